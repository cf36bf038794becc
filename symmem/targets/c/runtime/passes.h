/* A pass for the machine that every compiler knows, and for the wide registers of newer ones. */
#define SYMMEM_RUNNERS(pass, suffix, given, written, lanes, known)                                         \
    static void pass##_base_##suffix(const struct job_##suffix *job, size_t begin, size_t end)             \
    {                                                                                                      \
        run_##suffix(pass##_block_##suffix, finite_base_##suffix, store_base_##suffix, root_base,          \
            pass##_formulas, given, written, lanes, known, job, begin, end);                               \
    }                                                                                                      \
    SYMMEM_WIDE static void pass##_wide_##suffix(const struct job_##suffix *job, size_t begin, size_t end) \
    {                                                                                                      \
        run_##suffix(pass##_block_##suffix, finite_wide_##suffix, store_wide_##suffix, root_wide,          \
            pass##_formulas, given, written, lanes, known, job, begin, end);                               \
    }
