import type { Instruction } from '../chain/transaction.ts'
import { bytesField, MessageFault, varintField, type ProtobufReader } from './protobuf.ts'

// solana.storage.ConfirmedBlock.CompiledInstruction, and InnerInstruction, which also has a height.
const PROGRAM = varintField(1)
const ACCOUNTS = bytesField(2)
const DATA = bytesField(3)
const HEIGHT = varintField(4)
// InnerInstructions
const OUTER_INDEX = varintField(1)
const INSTRUCTION = bytesField(2)

/**
 * Reads the inner instructions of one outer instruction, whose message ends at `end`; throws MessageFault. The outer
 * index comes first.
 */
export function readInnerGroup(
  from: ProtobufReader,
  end: number,
  keyCount: number
): { readonly outerIndex: number; readonly instructions: readonly StreamedInstruction[] } {
  const field = 'meta.innerInstructions'
  let outerIndex = 0
  const spans: number[] = []
  while (from.at < end) {
    const tag = from.tag(end)
    if (tag === OUTER_INDEX) outerIndex = from.count(end, `${field}.index`)
    else if (tag === INSTRUCTION) {
      const stop = from.span(end, field)
      spans.push(from.at, stop)
      from.at = stop
    } else from.skip(tag, end)
  }
  const instructions: StreamedInstruction[] = []
  for (let i = 0; i < spans.length; i += 2) {
    from.at = spans[i]!
    instructions.push(
      readInstruction(from, spans[i + 1]!, keyCount, { outerIndex, innerIndex: i / 2 }, field)
    )
  }
  return { outerIndex, instructions }
}

/** Reads the instruction whose message ends at `end`; throws MessageFault. */
export function readInstruction(
  from: ProtobufReader,
  end: number,
  keyCount: number,
  place: { readonly outerIndex: number; readonly innerIndex: number | null },
  field: string
): StreamedInstruction {
  const spans: Spans = { accounts: 0, accountsEnd: 0, data: 0, dataEnd: 0 }
  let program = 0
  let height = 0
  while (from.at < end) {
    const tag = from.tag(end)
    if (tag === PROGRAM) program = from.count(end, `${field}.programIdIndex`)
    else if (tag === ACCOUNTS) {
      spans.accountsEnd = from.span(end, `${field}.accounts`)
      spans.accounts = from.at
      from.at = spans.accountsEnd
    } else if (tag === DATA) {
      spans.dataEnd = from.span(end, `${field}.data`)
      spans.data = from.at
      from.at = spans.dataEnd
    } else if (tag === HEIGHT && place.innerIndex !== null) {
      height = from.count(end, `${field}.stackHeight`)
      if (height < 2) throw new MessageFault(`${field}.stackHeight`)
    } else from.skip(tag, end)
  }
  if (program >= keyCount) throw new MessageFault(`${field}.programIdIndex`)
  const { bytes } = from
  for (let i = spans.accounts; i < spans.accountsEnd; i++) {
    if (bytes[i]! >= keyCount) throw new MessageFault(`${field}.accounts`)
  }
  return new StreamedInstruction(from, program, spans, place.innerIndex === null ? 1 : height, place)
}

interface Spans {
  accounts: number
  accountsEnd: number
  data: number
  dataEnd: number
}

/**
 * An instruction whose fields are created on first use. Its data is a copy: a venue may retain a section of it, such
 * as a mint, for long, and a view would retain the whole block.
 */
export class StreamedInstruction implements Instruction {
  readonly program: number
  readonly height: number
  readonly outerIndex: number
  readonly innerIndex: number | null
  readonly #from: ProtobufReader
  readonly #spans: Readonly<Spans>
  #accounts: Uint8Array | undefined
  #data: Uint8Array | undefined

  constructor(
    from: ProtobufReader,
    program: number,
    spans: Readonly<Spans>,
    height: number,
    { outerIndex, innerIndex }: { readonly outerIndex: number; readonly innerIndex: number | null }
  ) {
    this.#from = from
    this.#spans = spans
    this.program = program
    this.height = height
    this.outerIndex = outerIndex
    this.innerIndex = innerIndex
  }

  get accounts(): Uint8Array {
    return (this.#accounts ??= this.#from.view(this.#spans.accounts, this.#spans.accountsEnd))
  }

  get data(): Uint8Array {
    return (this.#data ??= this.#from.copy(this.#spans.data, this.#spans.dataEnd))
  }
}
