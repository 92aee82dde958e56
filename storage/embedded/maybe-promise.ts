/** A value, or a promise of it: a value in memory is returned without a promise. */
export type MaybePromise<T> = T | Promise<T>
