import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { ROOT } from '../house/sources.ts'

/** The page on webhooks. */
export const PAGE = readFileSync(join(ROOT, 'src/docs/webhooks.md'), 'utf8')

/** The lines of the page's test vector by name. */
export const VECTOR = Object.fromEntries(
  [...PAGE.matchAll(/^(body|(?:previous )?secret|X-MR-[\w-]+|webhook-\w+) {2,}(.*)$/gm)].map(
    ([, name, value]) => [name!, value!]
  )
) as Readonly<Record<string, string>>
