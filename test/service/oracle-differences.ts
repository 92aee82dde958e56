/** Maximum number of differences of one kind that are reported; more would not help. */
const TOLD_MAX = 5

/** Returns the places where two lists differ, in order, in words. */
export function differences(what: string, actual: readonly string[], expected: readonly string[]): string[] {
  const told: string[] = []
  if (actual.length !== expected.length)
    told.push(`${what}: ${actual.length} are served, ${expected.length} were meant`)
  const length = Math.max(actual.length, expected.length)
  for (let at = 0; at < length && told.length < TOLD_MAX; at++) {
    if (actual[at] === expected[at]) continue
    told.push(`${what}, number ${at}: served ${actual[at] ?? 'nothing'}, meant ${expected[at] ?? 'nothing'}`)
  }
  return told
}
