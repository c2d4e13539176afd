"""The work queue in Z3: claims for any table of groups, and any number of locks of a group."""
