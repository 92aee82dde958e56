/** Whether this is `npm run test:long`, with more and longer random runs than `npm test` has time for. */
export const IS_LONG = process.env.MILLRACE_TEST_BUDGET === 'long'
/** Factor by which it runs more random cases. */
const LONG_FACTOR = 20

/**
 * Returns the number of random runs of a property. `npm test` uses identical values every time, so that it fails because of
 * a change and not by chance. `npm run test:long` uses more values, different each time, and a failure names their seed.
 */
export function randomRuns(numRuns: number, seed = 1): { readonly numRuns: number; readonly seed?: number } {
  return IS_LONG ? { numRuns: numRuns * LONG_FACTOR } : { numRuns, seed }
}
