import { isAbsolute, relative } from 'node:path'
import type { ReportFormat } from './suite.ts'
import type { ForeignOutcome, ForeignOutcomes } from './verdict.ts'

const ERROR_MAX = 400

interface MochaTest {
  readonly file?: string
  readonly fullTitle: string
  readonly err: { readonly message?: string }
}

interface MochaReport {
  readonly tests: readonly MochaTest[]
  readonly pending: readonly MochaTest[]
  readonly failures: readonly MochaTest[]
}

interface JestReport {
  readonly testResults: readonly {
    readonly name: string
    readonly message: string
    readonly assertionResults: readonly {
      readonly fullName: string
      readonly status: string
      readonly failureMessages: readonly string[]
    }[]
  }[]
}

/**
 * Reads the report of a run. A test is named by its file, from `folder` on, and its title. Tests with equal names get
 * a number.
 */
export function readReport(format: ReportFormat, text: string, folder: string): ForeignOutcomes {
  const rows = format === 'junit' ? junitRows(text) : jsonRows(format, text, folder)
  const outcomes = new Map<string, ForeignOutcome>()
  for (const [name, outcome] of rows) {
    let unique = name
    for (let number = 2; outcomes.has(unique); number++) unique = `${name} #${number}`
    outcomes.set(unique, outcome)
  }
  return outcomes
}

type Row = readonly [name: string, outcome: ForeignOutcome]

function jsonRows(format: 'mocha' | 'jest', text: string, folder: string): readonly Row[] {
  const nameOf = (file: string, title: string): string =>
    `${isAbsolute(file) ? relative(folder, file) : file} > ${title}`
  if (format === 'mocha') {
    const { tests, pending, failures } = JSON.parse(text) as MochaReport
    const [skipped, failed] = [new Set(pending.map(keyOf)), new Set(failures.map(keyOf))]
    // A hook that fails is listed among the failures alone, and the tests after it are not listed.
    const known = new Set(tests.map(keyOf))
    const hooks = failures.filter((each) => !known.has(keyOf(each)))
    return [...tests, ...hooks].map((each) => {
      const { file = '', fullTitle, err } = each
      const outcome = failed.has(keyOf(each)) ? 'failed' : skipped.has(keyOf(each)) ? 'skipped' : 'passed'
      return [nameOf(file, fullTitle), outcomeOf(outcome, err.message)]
    })
  }
  return (JSON.parse(text) as JestReport).testResults.flatMap(
    ({ name, message, assertionResults }): Row[] => {
      if (assertionResults.length === 0 && message !== '')
        return [[nameOf(name, 'the file'), outcomeOf('failed', message)]]
      return assertionResults.map(({ fullName, status, failureMessages }) => [
        nameOf(name, fullName),
        outcomeOf(status === 'passed' || status === 'failed' ? status : 'skipped', failureMessages[0])
      ])
    }
  )
}

const keyOf = ({ file, fullTitle }: MochaTest): string => `${file}\n${fullTitle}`

const CASE = /<testcase\b([^>]*?)(?:\/>|>([\s\S]*?)<\/testcase>)/g

function junitRows(text: string): readonly Row[] {
  return [...text.matchAll(CASE)].map(([, attributes = '', body = '']) => {
    const message = attributeOf(body, 'message')
    const outcome = /<(failure|error)\b/.test(body)
      ? 'failed'
      : /<skipped\b/.test(body)
        ? 'skipped'
        : 'passed'
    return [
      `${attributeOf(attributes, 'classname')} > ${attributeOf(attributes, 'name')}`,
      outcomeOf(outcome, message)
    ]
  })
}

const ENTITIES: Readonly<Record<string, string>> = { lt: '<', gt: '>', quot: '"', apos: "'", amp: '&' }

const attributeOf = (text: string, name: string): string =>
  (new RegExp(`\\b${name}="([^"]*)"`).exec(text)?.[1] ?? '')
    .replace(/&#(\d+);/g, (_, code: string) => String.fromCodePoint(Number(code)))
    .replace(/&(\w+);/g, (all, entity: string) => ENTITIES[entity] ?? all)

function outcomeOf(outcome: ForeignOutcome['outcome'], message: string | undefined): ForeignOutcome {
  if (outcome !== 'failed' || message === undefined) return { outcome }
  // Colours of terminals.
  // eslint-disable-next-line no-control-regex
  const error = message.replace(/\u001b\[\d+m/g, '').slice(0, ERROR_MAX)
  return { outcome, error }
}
