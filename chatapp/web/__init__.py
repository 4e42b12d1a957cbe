"""Pages and what stands around them: views, forms, middleware, static files."""
