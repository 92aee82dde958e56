import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { cpSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { FILES_VARIABLE, WITHIN_VARIABLE } from '../runner/file-mark.ts'
import { ROOT } from './sources.ts'

/** A step of a recipe: a file that is new, or changes of one that is there. */
export interface RecipeStep {
  readonly path: string
  readonly kind: 'ts' | 'diff'
  readonly code: string
}

/** The blocks of code of a page, each for the file that is named last before it. */
export function stepsOf(page: string): RecipeStep[] {
  const blocks = page.matchAll(/```(ts|diff)\n(.*?)\n```/gs)
  return [...blocks].map(({ 1: kind, 2: code, index }) => {
    const path = [...page.slice(0, index).matchAll(/`([\w/.-]+\/[\w.-]+\.ts)`/g)].at(-1)![1]!
    return { path, kind: kind as RecipeStep['kind'], code: code! }
  })
}

/** Copies the sources of the house; packages are found in the folders above. */
export function copyHouse(into: string): void {
  for (const name of [
    'src',
    'actors',
    'machines',
    'storage',
    'loadtest',
    'test',
    '.config',
    'tsconfig.json',
    'package.json'
  ])
    cpSync(join(ROOT, name), join(into, name), { recursive: true })
}

/** Does in a copy of the house what a step says. Throws where the house is not as the step has it. */
export function carryOut({ path, kind, code }: RecipeStep, house: string): void {
  const file = join(house, path)
  if (existsSync(file) !== (kind === 'diff')) throw new Error(`${path} is there, or is not`)
  const text =
    kind === 'ts'
      ? `${code}\n`
      : code.split(/^@@\n/m).reduce((text, hunk) => changed(path, text, hunk), readFileSync(file, 'utf8'))
  mkdirSync(dirname(file), { recursive: true })
  writeFileSync(file, text)
}

/** Runs a program in a copy of the house to its end; resolves with its output where it failed, else with nothing. */
export async function failureIn(
  house: string,
  args: readonly string[],
  more: Readonly<Record<string, string>> = {}
): Promise<string> {
  const env = { ...process.env, TAP_TIMEOUT: '600', SHARED_CQL_OF: join(ROOT, 'test/servers'), ...more }
  const child = spawn(process.execPath, args, { cwd: house, env, stdio: ['ignore', 'pipe', 'inherit'] })
  let said = ''
  for await (const chunk of child.stdout) said += String(chunk)
  const [code] = (await once(child, 'close')) as [number | null]
  if (code === 0) return ''
  // Lines of what passed would push out those of what failed.
  const failed = said.replace(/^ *ok \d+ .*\n/gm, '')
  return `${args.join(' ')} ended with ${code}:\n${failed.slice(-20_000)}`
}

/** As the runner of tests starts a file: the hooks of node-tap would take two fifths of the processor time. */
const TEST_FLAGS = ['--disable-warning=DEP0205', '--import', './test/runner/test-errors.ts']

/** Runs a program of tests in a copy of the house; resolves with its output where it failed, else with nothing. */
export const testFailureIn = (house: string, ...args: readonly string[]): Promise<string> =>
  failureIn(house, [...TEST_FLAGS, ...args])

/** Runs test files in a copy of the house, in one process; resolves with the output where one failed, else with nothing. */
export const testsFailureIn = (house: string, files: readonly string[]): Promise<string> =>
  failureIn(house, [...TEST_FLAGS, 'test/runner/several.ts'], {
    [FILES_VARIABLE]: JSON.stringify(files),
    [WITHIN_VARIABLE]: '600000'
  })

/** Checks the types of a copy of the house; resolves with what is wrong, else with nothing. */
export const typeFailureIn = (house: string): Promise<string> =>
  failureIn(house, [join(ROOT, 'node_modules/@typescript/native-preview/bin/tsgo'), '-p', '.'])

/** A text with the lines of a hunk changed, which must be there once. */
function changed(path: string, text: string, hunk: string): string {
  const lines = hunk.replace(/\n$/, '').split('\n')
  const linesOf = (signs: string): string =>
    `${lines
      .filter((line) => line === '' || signs.includes(line[0]!))
      .map((line) => line.slice(1))
      .join('\n')}\n`
  const parts = text.split(linesOf(' -'))
  if (parts.length !== 2) throw new Error(`${path} has ${parts.length - 1} times:\n${linesOf(' -')}`)
  return parts.join(linesOf(' +'))
}
