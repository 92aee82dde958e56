import { decodeBase58, encodeBase58, isBase58 } from '../../../src/chain/base58.ts'
import type { Pubkey } from '../../../src/chain/pubkey.ts'
import type { FactReader, FactWriter } from './bytes.ts'

/** The places of a transaction's keys; a log line names its program by place. */
export interface KeyPlaces {
  /** Returns -1 for a key that the transaction does not name. */
  placeOf(key: Pubkey): number
  keyAt(place: number): Pubkey
}

/** Returns the lines that the decoder reads, without other output of programs. */
export function readableLines(logs: readonly string[] | null): readonly string[] | null {
  return logs === null ? null : logs.filter((line) => READABLE.some((pattern) => pattern.test(line)))
}

const INVOKE = /^Program (\w{32,44}) invoke \[(\d+)\]$/
const SUCCESS = /^Program (\w{32,44}) success$/
const FAILED = /^Program (\w{32,44}) failed: (.*)$/s
const DATA = /^Program data: (.*)$/s
const RAY_LOG = /^Program log: ray_log: (.*)$/s
const TRUNCATED = /^Log truncated/
const READABLE = [INVOKE, SUCCESS, FAILED, DATA, RAY_LOG, TRUNCATED]

const LINE = { text: 0, invoke: 1, success: 2, failed: 3, data: 4, rayLog: 5 } as const

/** Writes a line in a compact form, programs by place and payloads as bytes; any other line as text. */
export function writeLogLine(writer: FactWriter, line: string, places: KeyPlaces): void {
  const called = INVOKE.exec(line) ?? SUCCESS.exec(line) ?? FAILED.exec(line)
  const program = called === null ? -1 : placeOf(called[1]!, places)
  if (called !== null && program >= 0) {
    const [height, reason] = [INVOKE.exec(line)?.[2], FAILED.exec(line)?.[2]]
    writer.uint(height !== undefined ? LINE.invoke : reason !== undefined ? LINE.failed : LINE.success)
    writer.uint(program)
    if (height !== undefined) writer.text(height)
    if (reason !== undefined) writer.text(reason)
    return
  }
  const logged = DATA.exec(line) ?? RAY_LOG.exec(line)
  const payloads = logged === null ? null : payloadsOf(logged[1]!)
  if (payloads !== null) {
    writer.uint(DATA.test(line) ? LINE.data : LINE.rayLog)
    writer.list(payloads, (payload) => writer.sized(payload))
    return
  }
  writer.uint(LINE.text)
  writer.text(line)
}

export function readLogLine(reader: FactReader, places: KeyPlaces): string {
  const kind = reader.uint()
  const program = () => encodeBase58(places.keyAt(reader.uint()))
  const payloads = () => reader.list(() => reader.sized().toBase64()).join(' ')
  switch (kind) {
    case LINE.text:
      return reader.text()
    case LINE.invoke:
      return `Program ${program()} invoke [${reader.text()}]`
    case LINE.success:
      return `Program ${program()} success`
    case LINE.failed:
      return `Program ${program()} failed: ${reader.text()}`
    case LINE.data:
      return `Program data: ${payloads()}`
    case LINE.rayLog:
      return `Program log: ray_log: ${payloads()}`
    default:
      throw new RangeError(`log line of kind ${kind}`)
  }
}

/** Returns the place of a program that encodes back to the original text, else -1. */
function placeOf(text: string, places: KeyPlaces): number {
  if (!isBase58(text)) return -1
  const key = decodeBase58(text)
  return key.length === 32 ? places.placeOf(key) : -1
}

/** Returns the payloads' bytes, or null unless they encode back to the original text. */
function payloadsOf(text: string): Uint8Array[] | null {
  try {
    const payloads = text.split(' ').map((payload) => Uint8Array.fromBase64(payload))
    return payloads.map((payload) => payload.toBase64()).join(' ') === text ? payloads : null
  } catch {
    return null
  }
}
