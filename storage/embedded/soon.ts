/** A value that is here already, or that the engine is still to give: what is in memory costs no promise. */
export type Soon<T> = T | Promise<T>

export function whenHere<T, R>(value: Soon<T>, use: (value: T) => Soon<R>): Soon<R> {
  return value instanceof Promise ? value.then(use) : use(value)
}
