/** A line that a process of several files writes before and after each of them. */
export type FileMark = { readonly begins: string } | ({ readonly ended: string } & FileSums)

export interface FileSums {
  readonly passed: number
  readonly failed: number
  readonly notRun: number
  readonly seconds: number
  readonly processorSeconds: number
}

/** Variable of the environment that names the files, as JSON. An argument would name their folders as well. */
export const FILES_VARIABLE = 'MILLRACE_TEST_FILES'

export const writeMark = (mark: FileMark): string => `FILE ${JSON.stringify(mark)}`

/** Reads a line of the output: null if it is no mark. */
export function readMark(line: string): FileMark | null {
  return line.startsWith('# FILE {') ? (JSON.parse(line.slice('# FILE '.length)) as FileMark) : null
}
