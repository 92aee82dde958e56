import { z } from 'zod'
import { isPrivate, type StreamChannel } from './channel.ts'
import { dataIn, messageFrame, type Frames } from './frames.ts'
import { EVENT_MESSAGES } from './message-schemas.ts'

/** The fields of the data of events that a subscription selects, in order; null for all. */
export type SelectedFields = readonly string[] | null

/** Returns the names of the fields of an object, or of those of a union's objects that have them. */
function namesIn(schema: z.ZodType): readonly string[] {
  if (schema instanceof z.ZodUnion) return schema.options.flatMap((each) => namesIn(each as z.ZodType))
  return schema instanceof z.ZodObject ? Object.keys(schema.shape) : []
}

const KNOWN = new Map(
  Object.entries(EVENT_MESSAGES).map(([kind, { shape }]) => [kind, new Set(namesIn(shape.data))])
)

/** Returns the fields that events of any of these channels have. */
export function eventFieldsOf(channels: readonly StreamChannel[]): ReadonlySet<string> {
  const kinds = channels.map((channel) => (isPrivate(channel) ? channel.name : channel.kind))
  return new Set(kinds.flatMap((kind) => [...KNOWN.get(kind)!]))
}

/**
 * Returns why the `fields` of a message are refused; null if events of its channels have each of them. Each name is given
 * once, so a message has no more names than these events have.
 */
export function selectedFault(fields: readonly string[], channels: readonly StreamChannel[]): string | null {
  if (fields.length === 0) return 'fields must name a field'
  const known = eventFieldsOf(channels)
  const unknown = fields.find((name) => !known.has(name))
  if (unknown !== undefined)
    return `fields names ${JSON.stringify(unknown.slice(0, 64))}, which no event of these channels has; they have ${[...known].join(', ')}`
  const repeated = fields.find((name, at) => fields.indexOf(name) !== at)
  return repeated === undefined ? null : `fields names ${repeated} twice`
}

/** Filtered frames by their source, which all readers of a channel share, and by their fields. */
const selected = new WeakMap<Frames, Map<string, Frames>>()

/**
 * Returns frames whose events have only these fields in `data`. They are made once for each choice of fields. Retractions
 * are whole, because a client must recognize them.
 */
export function selectedFrames(frames: Frames, fields: readonly string[]): Frames {
  const known = selected.get(frames) ?? new Map<string, Frames>()
  selected.set(frames, known)
  const key = fields.join(',')
  const made = known.get(key) ?? withFields(frames, fields)
  known.set(key, made)
  return made
}

function withFields(frames: Frames, fields: readonly string[]): Frames {
  const bytes: Buffer[] = []
  const ends: number[] = []
  let size = 0
  for (const message of dataIn(frames)) {
    const { data } = message
    const isWhole = data['event'] === 'retract' || data['event'] === 'retracted'
    const frame = messageFrame(isWhole ? message : { ...message, data: picked(data, fields) })
    bytes.push(frame)
    size += frame.length
    ends.push(size)
  }
  return { ...frames, bytes: Buffer.concat(bytes, size), ends }
}

function picked(
  data: Readonly<Record<string, unknown>>,
  fields: readonly string[]
): Readonly<Record<string, unknown>> {
  const some: Record<string, unknown> = {}
  for (const name of fields) if (data[name] !== undefined) some[name] = data[name]
  return some
}
