import t, { type Test } from 'tap'
import { decodeTransaction } from '../../../src/chain/decode.ts'
import { readFixture, testWithFixtures } from '../../fixtures.ts'
import { ENCODINGS, isCompiled, reencode } from '../rpc/reencode.ts'
import { bareResult, decodedRecords, readTransaction, type DecodedRecord } from './decoded-record.ts'
import { plainText } from './plain-text.ts'

/** Events and notes with their places and order. */
function decodedText(result: unknown): string {
  const { events, notes } = decodeTransaction(readTransaction(result))
  return plainText({ events, notes })
}

function recordedText({ events, notes }: DecodedRecord): string {
  return plainText({ events, notes })
}

/** Compares each record with its other forms. Returns how many have such a form and give an event. */
function compareForms(t: Test, formsOf: (record: DecodedRecord) => readonly unknown[]): number {
  let compared = 0
  for (const record of decodedRecords()) {
    const expected = recordedText(record)
    for (const form of formsOf(record)) {
      t.equal(decodedText(form), expected, record.entry.file)
      if (record.events.length > 0) compared++
    }
  }
  return compared
}

testWithFixtures(t, 'a transaction decodes to the same in every encoding', (t) => {
  const compared = compareForms(t, ({ result }) => {
    const bare = bareResult(result)
    if (!isCompiled(bare)) return []
    return [...ENCODINGS.map((encoding) => reencode(bare, encoding)), { jsonrpc: '2.0', id: 1, result: bare }]
  })
  t.equal(compared, 780)
})

testWithFixtures(t, 'a jsonParsed record decodes to the same as its binary form', (t) => {
  const compared = compareForms(t, ({ entry }) =>
    entry.file_source === undefined ? [] : [readFixture(entry.file_source)]
  )
  t.equal(compared, 97)
})

testWithFixtures(t, 'a record without a version decodes to the same', (t) => {
  const compared = compareForms(t, ({ result, transaction: { version } }) => {
    const unversioned = { ...(bareResult(result) as object), version: undefined }
    return version === 1 || !isCompiled(unversioned) ? [] : [unversioned]
  })
  t.equal(compared, 194)
})

testWithFixtures(t, 'a record without stack heights decodes to the same where its log is whole', (t) => {
  let partial = 0
  const compared = compareForms(t, (record) => {
    const bare = withoutHeights(bareResult(record.result))
    if (hasWholeLog(record)) return [bare]
    // Without heights a transfer's call is unknown: decoded events do not change, and the others are noted as
    // missing.
    const { events, notes } = decodeTransaction(readTransaction(bare))
    const known = new Set(record.events.map(plainText))
    t.ok(
      events.every((event) => known.has(plainText(event))),
      record.entry.file
    )
    const missing = notes.filter(({ kind }) => kind === 'missing').length
    if (events.length < record.events.length) t.ok(missing > 0, `what ${record.entry.file} lacks is noted`)
    partial++
    return []
  })
  t.strictSame({ compared, partial }, { compared: 193, partial: 4 })
})

interface InnerGroup {
  readonly index: number
  readonly instructions: readonly { readonly stackHeight?: unknown }[]
}

function withoutHeights(result: unknown): unknown {
  const { meta, ...rest } = result as { meta: { innerInstructions?: readonly InnerGroup[] | null } }
  const innerInstructions = (meta.innerInstructions ?? []).map(({ index, instructions }) => ({
    index,
    instructions: instructions.map((instruction) => ({ ...instruction, stackHeight: undefined }))
  }))
  return { ...rest, meta: { ...meta, innerInstructions } }
}

function hasWholeLog({ transaction: { logs } }: DecodedRecord): boolean {
  return logs !== null && logs.length > 0 && !logs.includes('Log truncated')
}
