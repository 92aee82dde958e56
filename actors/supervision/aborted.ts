/** Resolves when the signal aborts. */
export function aborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve()
    else signal.addEventListener('abort', () => resolve(), { once: true })
  })
}

/**
 * Settles like `work`, or rejects with the signal's reason if that aborts first; the outcome of `work` is then
 * ignored.
 */
export function unlessAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    // The reason is an AbortError, or the error that a process was killed with.
    const give = (): void => reject(signal.reason as Error)
    if (signal.aborted) give()
    signal.addEventListener('abort', give, { once: true })
    const forget = (): void => signal.removeEventListener('abort', give)
    work.then(resolve, reject).then(forget, forget)
  })
}
