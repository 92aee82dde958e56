import { decodeBase58 } from '../../src/chain/base58.ts'

/** The message of a transaction as a node writes it in encoding `json`. */
export interface JsonMessage {
  readonly accountKeys: readonly string[]
  readonly header: {
    readonly numRequiredSignatures: number
    readonly numReadonlySignedAccounts: number
    readonly numReadonlyUnsignedAccounts: number
  } | null
  readonly recentBlockhash: string | null
  readonly instructions: readonly {
    readonly programIdIndex: number
    readonly accounts: readonly number[]
    readonly data: string
  }[]
  readonly addressTableLookups?: readonly JsonLookup[]
  readonly transactionConfig?: {
    readonly priorityFee: number | null
    readonly computeUnitLimit: number | null
    readonly loadedAccountsDataSizeLimit: number | null
    readonly heapSize: number | null
  }
}

export interface JsonLookup {
  readonly accountKey: string
  readonly writableIndexes: readonly number[]
  readonly readonlyIndexes: readonly number[]
}

/** Serializes a transaction, independently of the reader under test. */
export function writeWire(
  version: 'legacy' | 0 | 1,
  signatures: readonly string[],
  message: JsonMessage
): Uint8Array {
  const { header } = message
  const headerBytes = header
    ? [header.numRequiredSignatures, header.numReadonlySignedAccounts, header.numReadonlyUnsignedAccounts]
    : [signatures.length, 0, 0]
  const lifetime =
    message.recentBlockhash === null ? new Uint8Array(32) : decodeBase58(message.recentBlockhash)
  const keys = message.accountKeys.flatMap((key) => [...decodeBase58(key)])
  const signatureBytes = signatures.flatMap((signature) => [...decodeBase58(signature)])
  const instructions = message.instructions.map(({ programIdIndex, accounts, data }) => ({
    program: programIdIndex,
    accounts,
    data: decodeBase58(data)
  }))
  if (version === 1) {
    const config = message.transactionConfig!
    const values = [
      { mask: 0b11, size: 8, value: config.priorityFee },
      { mask: 0b100, size: 4, value: config.computeUnitLimit },
      { mask: 0b1000, size: 4, value: config.loadedAccountsDataSizeLimit },
      { mask: 0b10000, size: 4, value: config.heapSize }
    ].filter(({ value }) => value !== null)
    const mask = values.reduce((sum, { mask }) => sum | mask, 0)
    return Uint8Array.from([
      0x81,
      ...headerBytes,
      ...littleEndian(mask, 4),
      ...lifetime,
      instructions.length,
      message.accountKeys.length,
      ...keys,
      ...values.flatMap(({ size, value }) => littleEndian(value!, size)),
      ...instructions.flatMap(({ program, accounts, data }) => [
        program,
        accounts.length,
        ...littleEndian(data.length, 2)
      ]),
      ...instructions.flatMap(({ accounts, data }) => [...accounts, ...data]),
      ...signatureBytes
    ])
  }
  const lookups = message.addressTableLookups ?? []
  return Uint8Array.from([
    ...compact(signatures.length),
    ...signatureBytes,
    ...(version === 0 ? [0x80] : []),
    ...headerBytes,
    ...compact(message.accountKeys.length),
    ...keys,
    ...lifetime,
    ...compact(instructions.length),
    ...instructions.flatMap(({ program, accounts, data }) => [
      program,
      ...compact(accounts.length),
      ...accounts,
      ...compact(data.length),
      ...data
    ]),
    ...(version === 0 ? compact(lookups.length) : []),
    ...(version === 0 ? lookups : []).flatMap(({ accountKey, writableIndexes, readonlyIndexes }) => [
      ...decodeBase58(accountKey),
      ...compact(writableIndexes.length),
      ...writableIndexes,
      ...compact(readonlyIndexes.length),
      ...readonlyIndexes
    ])
  ])
}

function compact(value: number): number[] {
  return value < 128 ? [value] : [(value & 127) | 128, ...compact(value >> 7)]
}

function littleEndian(value: number, size: number): number[] {
  return Array.from({ length: size }, (_, i) => Math.floor(value / 256 ** i) % 256)
}
