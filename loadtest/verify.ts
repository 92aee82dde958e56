import { createHash } from 'node:crypto'
import { HEADERS } from './served-market.ts'

/** Answers by path: the status and a digest of the bytes. */
export async function answersOf(
  { url }: { readonly url: string },
  paths: readonly string[]
): Promise<Map<string, string>> {
  const answers = new Map<string, string>()
  for (const path of new Set(paths)) {
    const response = await fetch(url + path, { headers: HEADERS })
    const digest = createHash('sha256').update(new Uint8Array(await response.arrayBuffer()))
    answers.set(path, `${response.status} ${digest.digest('hex')}`)
  }
  return answers
}

/** The paths whose answers differ. */
export function differing(a: ReadonlyMap<string, string>, b: ReadonlyMap<string, string>): string[] {
  return [...a].filter(([path, answer]) => b.get(path) !== answer).map(([path]) => path)
}
