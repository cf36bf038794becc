"""The fixed code of the C target, copied verbatim: headers into a source file, modules beside a wrapper."""
