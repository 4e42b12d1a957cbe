"""Long lists: counted up to a limit, asked for by what their page offers and by nothing else."""

from __future__ import annotations

from functools import cached_property
from typing import Any, ClassVar

from django.contrib.admin import ModelAdmin, ShowFacets, SimpleListFilter
from django.contrib.admin.views.main import ChangeList
from django.core.paginator import Paginator
from django.http import HttpRequest

MOST_COUNTED = 1000


class BoundedPaginator(Paginator):
    """Beyond the limit nobody turns pages; one narrows the list."""

    @cached_property
    def count(self) -> int:
        rows: Any = self.object_list
        return int(rows.order_by()[:MOST_COUNTED].count())


class BoundedList(ChangeList):
    def get_results(self, request: HttpRequest) -> None:
        super().get_results(request)
        self.is_cut = self.result_count >= MOST_COUNTED
        own: Any = self.model_admin
        self.result_list = own.with_figures(request, list(self.result_list))


class BoundedAdmin(ModelAdmin):
    """`with_figures` gets the rows of one page, and puts beside them what their cells show."""

    actions: Any = None
    paginator = BoundedPaginator
    show_full_result_count = False
    show_facets = ShowFacets.NEVER
    list_per_page = list_max_show_all = 50
    list_display_links: Any = None
    sortable_by: ClassVar[Any] = ()

    def get_changelist(self, request: HttpRequest, **more: Any) -> Any:
        return BoundedList

    def with_figures(self, request: HttpRequest, rows: list[Any]) -> list[Any]:
        return rows

    def lookup_allowed(self, lookup: str, value: str, request: HttpRequest | None = None) -> bool:
        """A question about any other field would answer what the page does not show."""
        filters: Any = self.list_filter
        return lookup in [each.parameter_name for each in filters]


class ChoiceFilter(SimpleListFilter):
    """A filter that takes nothing but what it offers."""

    def value(self) -> str | None:
        offered = [str(value) for value, _ in self.lookup_choices]
        chosen = super().value()
        return chosen if chosen in offered else None
