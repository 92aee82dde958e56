import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { startMeasured, type MeasuredProcess } from './measured-process.ts'
import { HEADERS } from './service-process.ts'

/** Answers that a bare route serves. More of them change the mean size by a few percent only. */
const BODIES_MAX = 500
/** Header fields that Node adds itself, so the bare route is not given them. */
const NODES_FIELDS = new Set(['connection', 'content-length', 'date', 'keep-alive'])

export type HeaderFields = Readonly<Record<string, string>>

/** Answers of a service: their bodies, and the header fields of the first one; those of others differ only in their values. */
export interface Answers {
  readonly bodies: readonly Buffer[]
  readonly fields: HeaderFields
}

/** Requests the first paths of a service. Throws if one has another status than 200. */
export async function answersOf(
  { url }: Pick<MeasuredProcess, 'url'>,
  paths: readonly string[]
): Promise<Answers> {
  const bodies: Buffer[] = []
  const fields: Record<string, string> = {}
  for (const path of paths.slice(0, BODIES_MAX)) {
    const response = await fetch(url + path, { headers: { ...HEADERS, 'accept-encoding': 'identity' } })
    const body = Buffer.from(await response.arrayBuffer())
    if (response.status !== 200) throw new Error(`${path} returned ${response.status}: ${body.toString()}`)
    if (bodies.push(body) > 1) continue
    for (const [name, value] of response.headers) if (!NODES_FIELDS.has(name)) fields[name] = value
  }
  return { bodies, fields }
}

/** A Fastify route that returns answers from memory, in its own process. */
export interface BareSide {
  readonly server: MeasuredProcess
  /** Returns paths for as many requests as a service gets. */
  readonly paths: (count: number) => string[]
  readonly end: () => Promise<void>
}

/** Starts a bare route that sends these bodies, with these header fields. */
export async function startBareSide(bodies: readonly Buffer[], fields: HeaderFields): Promise<BareSide> {
  const scratch = mkdtempSync(join(tmpdir(), 'millrace-bare-'))
  try {
    const file = join(scratch, 'bodies')
    writeFileSync(file, Buffer.concat(bodies.flatMap((body) => [lengthOf(body), body])))
    const server = await startMeasured('bare-route.ts', [file, JSON.stringify(fields)])
    const isOne = bodies.length === 1
    return {
      server,
      paths: (count) => Array.from({ length: count }, (_, i) => (isOne ? '/' : `/${i % bodies.length}`)),
      end: async () => void (await server.end())
    }
  } finally {
    // The route has read its file before it listens.
    rmSync(scratch, { recursive: true })
  }
}

function lengthOf(body: Buffer): Buffer {
  const length = Buffer.alloc(4)
  length.writeUInt32BE(body.length)
  return length
}
