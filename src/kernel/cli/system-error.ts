/** Tells whether an error is one of the file system, such as a full disk. */
export const isSystemError = (error: unknown): error is Error => error instanceof Error && 'syscall' in error
