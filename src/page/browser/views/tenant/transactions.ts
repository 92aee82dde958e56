import { h, type JSX } from 'preact'
import { callOf } from '../../api.ts'
import type { List, Submission } from '../../answers.ts'
import { AddressLink, Age, Panel } from '../../elements.ts'
import { originsOf, Value } from '../../explain.ts'
import { count } from '../../format.ts'
import { useStream } from '../../live.ts'
import { Timeline } from '../../timeline.ts'
import { useAnswer } from '../../use-answer.ts'
import { BundlePanel } from './bundle.ts'

const REFETCH_MS = 10_000
const SUBMISSIONS_MAX = 100
const BUNDLES_MAX = 10

/** The tenant's transactions and bundles as timelines. */
export function TransactionsSection(): JSX.Element {
  const { answer, problem, refetch } = useAnswer<List<Submission>>(
    callOf('/v1/tx', {}, { limit: SUBMISSIONS_MAX }),
    REFETCH_MS
  )
  useStream(['tx'], null, refetch)
  const rows = answer?.body.data ?? []
  const bundles = [...new Set(rows.flatMap(({ bundle_id: id }) => (id === null ? [] : [id])))].slice(
    0,
    BUNDLES_MAX
  )
  return h(
    'div',
    { class: 'stack' },
    h(
      Panel,
      {
        title: 'Transactions',
        id: 'submissions-title',
        problem,
        isLoading: answer === null,
        onRetry: refetch
      },
      rows.length === 0 || answer === null
        ? h('p', { class: 'note' }, 'No transaction was submitted: POST /v1/tx/send, or millrace tx send.')
        : h(
            'ol',
            { class: 'timelines' },
            rows.map((row) => h(SubmissionLine, { key: row.signature, row, from: originsOf(answer) }))
          )
    ),
    bundles.map((id) =>
      h(BundlePanel, { key: id, id, members: rows.filter(({ bundle_id: bundle }) => bundle === id) })
    )
  )
}

const KINDS: Readonly<Record<string, string>> = {
  finalized: 'done',
  confirmed: 'done',
  processed: 'open',
  sent: 'open',
  failed: 'lost',
  expired: 'lost'
}

function SubmissionLine({
  row,
  from
}: {
  readonly row: Submission
  readonly from: ReturnType<typeof originsOf>
}): JSX.Element {
  const received = row.received_at === null ? null : Date.parse(row.received_at)
  const sent = row.first_sent_at === null ? null : Date.parse(row.first_sent_at)
  const last = row.last_sent_at === null ? null : Date.parse(row.last_sent_at)
  const landed = row.landed_ms === null || sent === null ? null : sent + row.landed_ms
  const after = (ms: number | null): string =>
    ms === null || received === null ? '' : `+${count(ms - received)} ms`
  const state = row.state ?? row.status
  return h(
    'li',
    null,
    h(
      'p',
      null,
      h(AddressLink, { view: 'tx', address: row.signature }),
      h('strong', { class: KINDS[state] === 'lost' ? 'down' : KINDS[state] === 'done' ? 'up' : '' }, state),
      h('span', { class: 'venue' }, row.routes.join(', ')),
      received === null ? null : h('span', { class: 'quiet' }, h(Age, { ms: received })),
      h(Value, { from: from('data[].rebroadcasts', row.rebroadcasts) }, `${count(row.rebroadcasts)} resends`),
      row.landed_ms === null
        ? null
        : h(
            Value,
            { from: from('data[].landed_ms', row.landed_ms, { slot: row.slot, signature: row.signature }) },
            `landed after ${count(row.landed_ms)} ms`
          ),
      row.err === null ? null : h('code', { class: 'down' }, JSON.stringify(row.err))
    ),
    h(Timeline, {
      kind: KINDS[state] ?? 'open',
      steps: [
        { name: 'received', ms: received, text: row.received_at ?? '' },
        { name: 'sent', ms: sent, text: after(sent) },
        { name: 'last sent', ms: last, text: after(last) },
        { name: 'landed', ms: landed, text: after(landed) }
      ]
    })
  )
}
