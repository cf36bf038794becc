/* The same for a pass whose entries are added up. */
#define SYMMEM_ADDERS(pass, suffix, given, lanes)                                                          \
    static symmem_wide pass##_base_##suffix(const struct terms_##suffix *terms, size_t begin, size_t end)  \
    {                                                                                                      \
        return added_##suffix(pass##_block_##suffix, root_base, given, lanes, terms, begin, end);          \
    }                                                                                                      \
    SYMMEM_WIDE static symmem_wide pass##_wide_##suffix(                                                   \
        const struct terms_##suffix *terms, size_t begin, size_t end)                                      \
    {                                                                                                      \
        return added_##suffix(pass##_block_##suffix, root_wide, given, lanes, terms, begin, end);          \
    }
