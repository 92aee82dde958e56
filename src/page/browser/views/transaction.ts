import { h, type JSX } from 'preact'
import { useMemo } from 'preact/hooks'
import { callOf, type Answer } from '../api.ts'
import {
  decodeAnswer,
  exactAmount,
  type DecodedTransaction,
  type ShownCall,
  type ShownChange,
  type ShownMovement
} from '../decoded-transaction.ts'
import { AddressLink, CopyButton, Facts, Panel, Table } from '../elements.ts'
import { Value, type Origin } from '../explain.ts'
import { short } from '../format.ts'
import { useAnswer } from '../use-answer.ts'

/** A transaction as the decoder reads it: calls of venues with their events, and each movement of tokens. */
export function TransactionView({ argument: signature }: { readonly argument: string }): JSX.Element {
  const call = callOf('/v1/rpc', {}, {}, 'POST', {
    jsonrpc: '2.0',
    id: 1,
    method: 'getTransaction',
    params: [signature, { encoding: 'json', maxSupportedTransactionVersion: 0, commitment: 'confirmed' }]
  })
  const { answer, problem, refetch } = useAnswer<unknown>(call)
  const decoded = useMemo(() => (answer === null ? null : decodeAnswer(answer.body)), [answer])
  return h(
    'div',
    { class: 'view' },
    h(
      'header',
      { class: 'token-title' },
      h('h1', null, 'Transaction ', h('code', null, short(signature))),
      h(
        'p',
        { class: 'quiet' },
        h('code', { class: 'whole' }, signature),
        h(CopyButton, { text: signature, name: 'Copy the signature' })
      )
    ),
    problem !== null || decoded === null
      ? h(Panel, {
          title: 'Transaction',
          id: 'tx-title',
          problem,
          isLoading: problem === null,
          onRetry: refetch
        })
      : typeof decoded === 'string'
        ? h(
            Panel,
            { title: 'Transaction', id: 'tx-title' },
            h(
              'p',
              { class: 'problem' },
              decoded,
              ' ',
              h('button', { type: 'button', onClick: refetch }, 'Retry')
            )
          )
        : h(Decoded, { decoded, answer: answer! })
  )
}

interface DecodedProps {
  readonly decoded: DecodedTransaction
  readonly answer: Answer<unknown>
}

function Decoded({ decoded, answer }: DecodedProps): JSX.Element {
  const { slot, signature } = decoded
  const from = (field: string, value: unknown, rule: string): Origin => ({
    call: answer.call,
    field,
    value: typeof value === 'bigint' ? value.toString() : value,
    receivedAtMs: answer.receivedAtMs,
    slot,
    signature,
    rule
  })
  const amountOf = ({ amountRaw, decimals, place, kind }: ShownMovement): JSX.Element =>
    h(
      Value,
      {
        from: from(
          `instruction ${place}`,
          amountRaw,
          `The amount of the ${kind} in instruction ${place}, in base units, as the runtime executed it. The decoder reads it from the data of the instruction.`
        )
      },
      decimals === null ? `${amountRaw} raw` : exactAmount(amountRaw, decimals)
    )
  return h(
    'div',
    { class: 'columns' },
    h(
      'div',
      { class: 'main-column' },
      h(
        Panel,
        {
          title: 'Calls of venues',
          id: 'calls-title',
          tools: h('span', { class: 'note' }, 'as millrace decode --explain prints them')
        },
        decoded.calls.length === 0
          ? h('p', { class: 'note' }, 'The transaction calls no venue that the decoder knows.')
          : decoded.calls.map((call) => h(CallPart, { key: call.place, call }))
      ),
      h(
        Panel,
        { title: 'Movements', id: 'movements-title' },
        h(Table<ShownMovement>, {
          name: 'Movements of tokens and SOL, in execution order',
          columns: [
            { name: 'Instruction', cell: ({ place }) => h('code', null, place) },
            { name: 'Kind', cell: ({ kind }) => kind },
            {
              name: 'From',
              cell: ({ from: source }) =>
                source === null ? '–' : h(AddressLink, { view: 'wallet', address: source })
            },
            {
              name: 'To',
              cell: ({ to }) => (to === null ? '–' : h(AddressLink, { view: 'wallet', address: to }))
            },
            { name: 'Amount', isNumber: true, cell: (movement) => amountOf(movement) },
            {
              name: 'Token',
              cell: ({ mint, kind }) =>
                mint === null
                  ? kind === 'lamports'
                    ? 'SOL'
                    : 'unknown'
                  : h(AddressLink, { view: 'token', address: mint })
            }
          ],
          rows: decoded.movements,
          keyOf: (_, at) => at,
          empty: 'Nothing is moved.'
        })
      ),
      h(
        'details',
        { class: 'panel' },
        h('summary', null, `Log, ${decoded.logs.length} lines`),
        h('pre', { class: 'log', tabIndex: 0 }, decoded.logs.join('\n'))
      )
    ),
    h(
      'div',
      { class: 'side-column' },
      h(
        Panel,
        { title: 'Facts', id: 'tx-facts' },
        h(Facts, {
          rows: [
            [
              'Result',
              decoded.failed
                ? h('strong', { class: 'down' }, 'failed')
                : h('strong', { class: 'up' }, 'executed')
            ],
            [
              'Slot',
              h(
                Value,
                {
                  from: from(
                    'result.slot',
                    slot,
                    'The slot of the block that has the transaction, as the node states it.'
                  )
                },
                slot ?? '–'
              )
            ],
            [
              'Time',
              decoded.blockTimeMs === null
                ? '–'
                : `${new Date(decoded.blockTimeMs).toISOString().slice(0, 19).replace('T', ' ')} UTC`
            ],
            [
              'Fee',
              h(
                Value,
                {
                  from: from(
                    'result.meta.fee',
                    decoded.feeLamports,
                    'The fee in lamports, as the node states it. The first signer pays it.'
                  )
                },
                `${exactAmount(decoded.feeLamports, 9)} SOL`
              )
            ],
            ['Version', decoded.version],
            ...decoded.signers.map(
              (signer, at) =>
                [
                  at === 0 ? 'Payer' : `Signer ${at + 1}`,
                  h(AddressLink, { view: 'wallet', address: signer })
                ] as const
            )
          ]
        })
      ),
      h(
        Panel,
        { title: 'Changes of balances', id: 'changes-title' },
        h(Table<ShownChange>, {
          name: 'Changes of balances by owner',
          columns: [
            { name: 'Owner', cell: ({ owner }) => h(AddressLink, { view: 'wallet', address: owner }) },
            {
              name: 'Change',
              isNumber: true,
              cell: ({ changeRaw, decimals }) =>
                h('span', { class: changeRaw < 0n ? 'down' : 'up' }, exactAmount(changeRaw, decimals))
            },
            {
              name: 'Token',
              cell: ({ mint }) => (mint === null ? 'SOL' : h(AddressLink, { view: 'token', address: mint }))
            }
          ],
          rows: decoded.changes,
          keyOf: (_, at) => at,
          empty: 'No balance changed.'
        })
      )
    )
  )
}

function CallPart({ call }: { readonly call: ShownCall }): JSX.Element {
  return h(
    'article',
    { class: 'call' },
    h(
      'h3',
      null,
      h('code', null, call.place),
      ' ',
      call.venue,
      ' · ',
      call.instruction ?? `unknown instruction ${call.discriminator}`
    ),
    h(
      'p',
      { class: 'note' },
      `${call.accounts} accounts, ${call.movements} movements, log ${call.log}`,
      call.stated.length === 0
        ? ''
        : `, states ${call.stated.map((name) => name ?? 'an unknown event').join(', ')}`,
      call.logged.length === 0
        ? ''
        : `, logs ${call.logged.map((name) => name ?? 'an unknown event').join(', ')}`
    ),
    call.notes.map((note, at) =>
      h(
        'p',
        { key: at, class: 'problem' },
        Object.values(note)
          .filter((value) => typeof value === 'string')
          .join(': ')
      )
    ),
    call.events.map((event, at) =>
      h(
        'details',
        { key: at, open: true },
        h('summary', null, event.kind),
        h(Facts, {
          rows: event.fields.map(([name, value]) => [name, h('code', null, value)] as const)
        })
      )
    )
  )
}
