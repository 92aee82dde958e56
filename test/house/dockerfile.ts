import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { ROOT } from './sources.ts'

export interface Instruction {
  readonly name: string
  readonly text: string
}

/** Returns the stages of the Dockerfile as lists of instructions; continued lines are joined. */
export function readDockerfile(): Instruction[][] {
  const lines = readFileSync(join(ROOT, 'Dockerfile'), 'utf8')
    .replaceAll(/^#.*\n/gm, '')
    .replaceAll(/\\\n\s*/g, '')
    .split('\n')
    .filter((line) => line !== '')
  const stages: Instruction[][] = []
  for (const line of lines) {
    const [, name = '', text = ''] = /^([A-Z]+) (.*)$/.exec(line) ?? []
    if (name === 'FROM') stages.push([])
    stages.at(-1)!.push({ name, text })
  }
  return stages
}

/** Returns the text of the stage's only instruction with a name. Throws if the stage has no such instruction or several. */
export function only(stage: readonly Instruction[], name: string): string {
  const found = stage.filter((instruction) => instruction.name === name)
  if (found.length !== 1) throw new Error(`${found.length} ${name}`)
  return found[0]!.text
}

/** Returns the environment that the image sets. */
export function environmentOf(stage: readonly Instruction[]): Record<string, string> {
  return Object.fromEntries(
    only(stage, 'ENV')
      .split(' ')
      .map((pair) => pair.split('=') as [string, string])
  )
}
