/** Maximum number of differences of one kind that are reported; more would not help. */
const REPORTED_MAX = 5

/** Returns the places where two lists differ, in order, in words. */
export function differences(what: string, actual: readonly string[], expected: readonly string[]): string[] {
  const reported: string[] = []
  if (actual.length !== expected.length)
    reported.push(`${what}: ${actual.length} are served, ${expected.length} were meant`)
  const length = Math.max(actual.length, expected.length)
  for (let at = 0; at < length && reported.length < REPORTED_MAX; at++) {
    if (actual[at] === expected[at]) continue
    reported.push(
      `${what}, number ${at}: served ${actual[at] ?? 'nothing'}, meant ${expected[at] ?? 'nothing'}`
    )
  }
  return reported
}
