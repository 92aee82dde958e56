/** Whether this is `npm run test:long`, which looks for what a run that one waits for has no time for. */
export const IS_LONG = process.env.MILLRACE_TEST_BUDGET === 'long'
/** How much longer it tries. */
const LONG_FACTOR = 20

/**
 * How often a property is tried with random values. `npm test` tries the same values every time, so that it fails for a
 * change and not by chance; `npm run test:long` tries more, other ones each time, and a failure names their seed.
 */
export function randomRuns(numRuns: number, seed = 1): { readonly numRuns: number; readonly seed?: number } {
  return IS_LONG ? { numRuns: numRuns * LONG_FACTOR } : { numRuns, seed }
}
