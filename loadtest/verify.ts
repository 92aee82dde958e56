import { createHash } from 'node:crypto'
import { HEADERS } from './service-process.ts'

/** Returns answers by path: the status and a digest of the bytes. For a problem, whose body has a request id, its code. */
export async function answersOf(
  { url }: { readonly url: string },
  paths: readonly string[]
): Promise<Map<string, string>> {
  const answers = new Map<string, string>()
  for (const path of new Set(paths)) {
    const response = await fetch(url + path, { headers: HEADERS })
    const text = await response.text()
    const told = response.ok
      ? createHash('sha256').update(text).digest('hex')
      : (JSON.parse(text) as { code: string }).code
    answers.set(path, `${response.status} ${told}`)
  }
  return answers
}

/** Returns the paths whose answers differ. */
export function differing(a: ReadonlyMap<string, string>, b: ReadonlyMap<string, string>): string[] {
  return [...a].filter(([path, answer]) => b.get(path) !== answer).map(([path]) => path)
}
