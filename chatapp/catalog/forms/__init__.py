"""What staff say of models and providers."""
