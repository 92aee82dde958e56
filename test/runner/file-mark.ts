/** A line that a process of several files writes before and after each of them, and where it gives one up. */
export type FileMark = { readonly begins: string } | ({ readonly ended: string } & FileSums) | LateMark

export interface FileSums {
  readonly passed: number
  readonly failed: number
  readonly notRun: number
  readonly seconds: number
  readonly processorSeconds: number
}

/** The process ends itself after this line: a file, or the end of the process, takes too long. */
export interface LateMark {
  /** The running tests, the outermost first, or the handles that keep the process alive. */
  readonly late: string
  readonly seconds: number
}

/** Variable of the environment that names the files, as JSON. An argument would name their folders as well. */
export const FILES_VARIABLE = 'MILLRACE_TEST_FILES'
/** Variable that sets the milliseconds that each file has. */
export const WITHIN_VARIABLE = 'MILLRACE_TEST_FILE_WITHIN_MS'

const START = '# FILE {'

export const writeMark = (mark: FileMark): string => `# FILE ${JSON.stringify(mark)}`

/** Reads a line of the output; null if it is no mark. */
export function readMark(line: string): FileMark | null {
  return line.startsWith(START) ? (JSON.parse(line.slice(START.length - 1)) as FileMark) : null
}
