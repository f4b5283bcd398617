"""Tables: rows and columns from files and frames, as numbers for students, and back into files."""

from fwl.tables.encoding import TableEncoding, fit_encoding
from fwl.tables.formats import format_of
from fwl.tables.frames import as_table, is_frame
from fwl.tables.reading import column_names, count_rows, read_chunks, read_table
from fwl.tables.writing import table_writer, write_table

__all__ = [
    "TableEncoding",
    "as_table",
    "column_names",
    "count_rows",
    "fit_encoding",
    "format_of",
    "is_frame",
    "read_chunks",
    "read_table",
    "table_writer",
    "write_table",
]
