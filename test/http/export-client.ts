import { request, type IncomingMessage } from 'node:http'
import type { ListeningApp } from './raw-client.ts'

/** An export as its client has received it. */
export interface Exported {
  readonly status: number
  readonly headers: IncomingMessage['headers']
  readonly text: string
  readonly trailers: IncomingMessage['trailers']
  /** Whether the answer has the end that HTTP requires. */
  readonly isComplete: boolean
}

/** Opens an export. The client reads nothing before `whole`. */
export async function openExport({ port, key }: ListeningApp, path: string, apiKey = key) {
  const asked = request({ port, host: '127.0.0.1', path, headers: { 'x-api-key': apiKey } })
  asked.end()
  const response = await new Promise<IncomingMessage>((resolve, reject) => {
    asked.on('response', resolve)
    asked.on('error', reject)
  })
  response.on('error', () => undefined)
  const whole = async (between: () => Promise<void> = async () => undefined): Promise<Exported> => {
    const chunks: Buffer[] = []
    try {
      for await (const chunk of response) {
        if (chunks.length === 0) await between()
        chunks.push(chunk as Buffer)
      }
    } catch {
      // It broke off.
    }
    return {
      status: response.statusCode!,
      headers: response.headers,
      text: Buffer.concat(chunks).toString(),
      trailers: response.trailers,
      isComplete: response.complete
    }
  }
  return { asked, response, whole }
}

/** Reads an export to its end. */
export const exported = async (app: ListeningApp, path: string, apiKey?: string): Promise<Exported> =>
  (await openExport(app, path, apiKey)).whole()

/** Parses the rows of NDJSON. */
export const ndjsonRows = (text: string): Record<string, unknown>[] =>
  text
    .split('\n')
    .slice(0, -1)
    .map((line) => JSON.parse(line) as Record<string, unknown>)
