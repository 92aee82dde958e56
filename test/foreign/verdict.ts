/** How a test of a suite ended. */
export type Outcome = 'passed' | 'failed' | 'skipped'

/** The outcome of a test, and the first lines of its error. */
export interface ForeignOutcome {
  readonly outcome: Outcome
  readonly error?: string
}

/** Outcomes by the name of the test. */
export type ForeignOutcomes = ReadonlyMap<string, ForeignOutcome>

/** Tests that fail through the service for one reason. */
export interface ExpectedDifference {
  readonly reason: string
  /**
   * How the tests end at the node itself. Those that also fail there prove nothing about the service, and the run verifies
   * that they do fail.
   */
  readonly node: 'passes' | 'fails'
  /** Names, completely or up to a `*` at the end. Each names a test. */
  readonly tests: readonly string[]
}

/** The result of a suite. */
export interface Verdict {
  readonly passed: number
  readonly skipped: number
  /** Tests that fail as expected. */
  readonly expected: number
  /** One line for each test that did not end as expected. Empty for a good service. */
  readonly faults: readonly string[]
}

/**
 * Compares the outcomes of a suite through the service with those at the node and with the expected differences. A fault
 * is a difference that is not expected, and an expected one that no longer occurs.
 */
export function verdictOf(
  service: ForeignOutcomes,
  node: ForeignOutcomes,
  expected: readonly ExpectedDifference[]
): Verdict {
  const faults: string[] = []
  let [passed, skipped, asExpected] = [0, 0, 0]
  const unused = new Set(expected.flatMap(({ tests }) => tests))
  const names = new Set([...service.keys(), ...node.keys()])
  for (const name of names) {
    const [mine, other] = [service.get(name), node.get(name)]
    const [difference, pattern] = findExpected(expected, name)
    if (mine === undefined) faults.push(`${name}: was not run through the service`)
    else if (mine.outcome === 'failed') {
      const atNode = other?.outcome === 'passed' ? 'passes' : 'fails'
      if (difference === undefined)
        faults.push(`${name}: fails, and ${atNode} at the node\n  ${mine.error ?? 'no error is reported'}`)
      // In the opposite case the reason still holds.
      else if (difference.node === 'fails' && atNode === 'passes')
        faults.push(`${name}: passes at the node, and the list says that it fails there too`)
      else asExpected++
      unused.delete(pattern)
    } else if (mine.outcome === 'skipped' && other?.outcome !== 'skipped')
      faults.push(`${name}: was skipped through the service alone`)
    else if (mine.outcome === 'skipped') skipped++
    else if (difference !== undefined && pattern === name) {
      faults.push(`${name}: passes, and the list expects that it fails`)
      unused.delete(pattern)
    } else passed++
  }
  for (const pattern of unused) faults.push(`${pattern}: no test of this name fails; remove it from the list`)
  return { passed, skipped, expected: asExpected, faults }
}

function findExpected(
  expected: readonly ExpectedDifference[],
  name: string
): readonly [ExpectedDifference, string] | readonly [undefined, ''] {
  for (const each of expected) {
    const pattern = each.tests.find((text) =>
      text.endsWith('*') ? name.startsWith(text.slice(0, -1)) : text === name
    )
    if (pattern !== undefined) return [each, pattern]
  }
  return [undefined, '']
}
