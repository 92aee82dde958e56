import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { ROOT } from './sources.ts'

export interface Instruction {
  readonly name: string
  readonly text: string
}

/** The stages of the Dockerfile, each as its instructions; continued lines are one. */
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

/** The text of the only instruction of a name. */
export function only(stage: readonly Instruction[], name: string): string {
  const found = stage.filter((instruction) => instruction.name === name)
  if (found.length !== 1) throw new Error(`${found.length} ${name}`)
  return found[0]!.text
}

/** The environment that the image sets. */
export function environmentOf(stage: readonly Instruction[]): Record<string, string> {
  return Object.fromEntries(
    only(stage, 'ENV')
      .split(' ')
      .map((pair) => pair.split('=') as [string, string])
  )
}
