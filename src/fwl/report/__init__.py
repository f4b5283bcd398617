"""Reports: stored numbers become tables, figures and one self-contained page."""

from fwl.report.page import write_report
from fwl.report.store import as_json, read_result, write_result
from fwl.report.tables import markdown_table, screen_table

__all__ = ["as_json", "markdown_table", "read_result", "screen_table", "write_report", "write_result"]
