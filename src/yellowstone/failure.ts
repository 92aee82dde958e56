/**
 * A remedy for a stream that ended or could not be opened.
 *
 * `again`: reconnect after a wait. `replay`: reconnect at once and request other slots. `never`: fails until an
 * operator changes a setting or the server.
 */
export type Remedy = 'again' | 'replay' | 'never'

export interface StreamFault {
  readonly remedy: Remedy
  /** One line for people, without secrets. */
  readonly reason: string
  /**
   * The first slot that the server still has. Null: it cannot replay at all. Absent: it has no slot yet from the
   * requested one on.
   */
  readonly firstSlot?: number | null
  /** True when the bytes were not a message of the protocol. */
  readonly garbage?: true
}

export class StreamError extends Error {
  readonly fault: StreamFault

  constructor(fault: StreamFault, options?: ErrorOptions) {
    super(fault.reason, options)
    this.name = 'StreamError'
    this.fault = fault
  }
}

/** Patterns of the client's texts, with the fault of each. The native client returns gRPC's texts, not status codes. */
const FAULTS: readonly [pattern: RegExp, fault: (said: string) => StreamFault][] = [
  [/valid authentication credentials/, (said) => never(`refuses the token: ${said}`)],
  [/caller does not have permission/, (said) => never(`does not allow the token to subscribe: ${said}`)],
  [
    /invalid x-token|parse x-token/,
    () => never('cannot be used: the token has characters that a header cannot carry')
  ],
  [/x-token/, () => never('cannot be used: the token is not valid')],
  [
    /not implemented or not supported/,
    (said) => never(`does not offer geyser.Geyser/Subscribe (is it a Yellowstone gRPC server?): ${said}`)
  ],
  [/scheme is missing|invalid uri|invalid URL|relative URL|empty host/i, () => never(`has no valid URL`)],
  [/InvalidContentType/, () => never('does not speak TLS: its URL has to start with http://')],
  [
    /invalid peer certificate|UnknownIssuer|NotValidForName/,
    (said) => never(`has no valid certificate: ${said}`)
  ],
  [
    /from_slot is not supported/,
    () => ({ remedy: 'replay', reason: 'stores no slots to resume from', firstSlot: null })
  ],
  // The plugin (15.1.2) reports this for slots above its newest one.
  [
    /failed to get replay response/,
    () => ({ remedy: 'replay', reason: 'has not reached the last ingested slot yet' })
  ],
  [
    /is not available, last available|first available slot|failed to get replay position/,
    (said) => ({
      remedy: 'replay',
      reason: `no longer has the slot to resume from: ${said}`,
      firstSlot: lastNumber(said)
    })
  ],
  [
    /message length too large/,
    (said) => reconnectAfter(`sends a message above the size limit: ${said}`, true)
  ],
  [
    /failed to decode Protobuf|buffer underflow|invalid compression flag/,
    (said) => reconnectAfter(`sends a message that does not follow the protocol: ${said}`, true)
  ],
  [/lagged to/, (said) => reconnectAfter(`ended the stream because it was read too slowly: ${said}`)],
  [/specified an invalid argument/, (said) => never(`refuses the subscription: ${said}`)],
  [/dns error|lookup address/, () => reconnectAfter('has a name that cannot be resolved')],
  [
    /[Cc]onnection refused|tcp connect error|connect error|deadline has elapsed|timed out/,
    (said) => reconnectAfter(`cannot be reached: ${said}`)
  ],
  [
    /http2 error|h2 protocol error: http2|frame with invalid size/,
    (said) => reconnectAfter(`closed the connection, or does not speak gRPC: ${said}`)
  ],
  [/resource has been exhausted/, (said) => reconnectAfter(`has reached its limit of clients: ${said}`)]
]

const never = (reason: string): StreamFault => ({ remedy: 'never', reason })
const reconnectAfter = (reason: string, garbage = false): StreamFault =>
  garbage ? { remedy: 'again', reason, garbage } : { remedy: 'again', reason }

/**
 * Finds the fault behind an error of the native client. The deepest cause has the most detail. `mask` masks secrets in its
 * text.
 */
export function faultOf(error: unknown, mask: (text: string) => string): StreamFault {
  if (error instanceof StreamError) return error.fault
  const said = chainOf(error)
  const all = said.join(' | ')
  const reason = shortened(mask(quotedMessage(all) ?? said.at(-1) ?? 'no reason'))
  for (const [pattern, fault] of FAULTS) if (pattern.test(all)) return fault(reason)
  return reconnectAfter(`ended the stream: ${reason}`)
}

function chainOf(error: unknown): string[] {
  const said: string[] = []
  for (let each = error; each instanceof Error && said.length < 10; each = each.cause) said.push(each.message)
  return said.length > 0 ? said : [String(error)]
}

/** Extracts the server's message from the client's text. */
function quotedMessage(all: string): string | null {
  return /message: "((?:[^"\\]|\\.)*)"/.exec(all)?.[1] ?? null
}

const LENGTH_MAX = 300

const shortened = (text: string): string =>
  text.length > LENGTH_MAX ? `${text.slice(0, LENGTH_MAX)}…` : text

/** Returns the number in a text such as "broadcast from 5 is not available, last available: 9". */
function lastNumber(text: string): number | null {
  const digits = /(\d{1,15})\D*$/.exec(text)?.[1]
  return digits === undefined ? null : Number(digits)
}
