/** Characters of a failure's report that are printed; the rest stays in the whole output. */
const FAILURE_CHARACTERS_MAX = 20_000
/** Lines that report a file which failed without a failed assertion. */
const END_LINES = 40
/** Lines of one file, and of all, in the closing report: as many as a CI shows of the end of a log. */
const FILE_LINES_MAX = 40
const REPORT_LINES_MAX = 200
/** Lines that a failed assertion gets in the closing report even if there are many. */
const ASSERTION_LINES_MIN = 6

/** A failed assertion or subtest, and the lines of its report, as they were written. */
interface FailedPoint {
  readonly line: string
  readonly report: readonly string[]
}

function failedPoints(output: string): FailedPoint[] {
  const lines = output.split('\n')
  const points: FailedPoint[] = []
  for (let at = 0; at < lines.length; at++) {
    const line = lines[at]!
    if (!/^\s*not ok /.test(line)) continue
    const indent = /^\s*/.exec(line)![0]
    const report: string[] = []
    if (lines[at + 1] === `${indent}  ---`)
      do report.push(lines[++at]!)
      while (at + 1 < lines.length && lines[at] !== `${indent}  ...`)
    points.push({ line, report })
  }
  return points
}

/** Returns the failed assertions of an output with their reports, or the end of the output if no assertion failed. */
export function failuresOf(output: string): string {
  const told = failedPoints(output).flatMap(({ line, report }) => [line, ...report])
  if (told.length === 0) return output.split('\n').slice(-END_LINES).join('\n')
  return told.join('\n').slice(0, FAILURE_CHARACTERS_MAX)
}

/** The output of a failed file or check. */
export interface Failed {
  readonly name: string
  readonly output: string
}

/**
 * Returns the lines that end a failed run, so that the last lines of its log give the reason. They are the failed assertions
 * of each file, without sources and frames of the runner. There are at most 40 lines for each file and 200 in all.
 */
export function closingReport(failed: readonly Failed[]): string[] {
  const lines: string[] = []
  for (const [at, { name, output }] of failed.entries()) {
    // Each later file can still be named.
    const room = REPORT_LINES_MAX - lines.length - (failed.length - at)
    const own = room > 0 ? shortened(output, Math.min(FILE_LINES_MAX, room)) : []
    if (lines.length < REPORT_LINES_MAX) lines.push(`not ok - ${name}`, ...own.map((line) => `  ${line}`))
  }
  return lines
}

function shortened(output: string, linesMax: number): string[] {
  const points = failedPoints(output)
  // A subtest that failed by its own assertions adds only its time.
  const assertions = points.filter(({ line }) => !/ # time=[\d.]+ms$/.test(line))
  const told = assertions.length > 0 ? assertions : points
  if (told.length === 0) return cut(output.trimEnd().split('\n').reverse(), linesMax).reverse()
  const share = Math.max(ASSERTION_LINES_MIN, Math.floor(linesMax / told.length))
  return cut(
    told.flatMap((point) => cut(withoutNoise(point), share)),
    linesMax
  )
}

/** Returns at most this many lines; the last one then gives the number of further ones. */
function cut(lines: readonly string[], linesMax: number): string[] {
  if (lines.length <= linesMax) return [...lines]
  return [...lines.slice(0, linesMax - 1), `… ${lines.length - linesMax + 1} lines more`]
}

/** Frames of the runner, and facts about a place that no reader needs. */
const NOISE =
  /^\s*$|^\s*(---|\.\.\.)$|test-errors\.ts|runInAsyncScope|^\s*(columnNumber|typeName|methodName|functionName|isToplevel):/

function withoutNoise({ line, report }: FailedPoint): string[] {
  const told = [line.trim()]
  const indent = line.length - line.trimStart().length
  let sourceIndent: number | null = null
  for (const each of report) {
    if (NOISE.test(each)) continue
    const depth = each.length - each.trimStart().length
    if (sourceIndent !== null && depth > sourceIndent) continue
    sourceIndent = /^\s*source: /.test(each) ? depth : null
    if (sourceIndent === null) told.push(each.slice(indent))
  }
  return told
}
