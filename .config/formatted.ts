import { readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { format, type FormatConfig } from 'oxfmt'

const ROOT = resolve(import.meta.dirname, '..')

/** Returns a source text in the format of the house. Throws if the text is not valid. */
export async function formatted(name: string, text: string): Promise<string> {
  const options = JSON.parse(readFileSync(join(ROOT, '.oxfmtrc.json'), 'utf8')) as FormatConfig
  const { code, errors } = await format(name, text, options)
  if (errors.length > 0) throw new Error(`${name}: ${errors.map(({ message }) => message).join('; ')}`)
  return code
}
