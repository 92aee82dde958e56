import { h, type JSX } from 'preact'
import { callOf } from '../../api.ts'
import type { AdminCoverage, Decoding, StorageUse } from '../../answers.ts'
import { CoverageBand, type Band } from '../../coverage-band.ts'
import { Bar, Facts, Panel, Table } from '../../elements.ts'
import { originsOf, Value } from '../../explain.ts'
import { bytes, count, decimal, share } from '../../format.ts'
import { useAnswer } from '../../use-answer.ts'
import { valueColumns } from '../../value-column.ts'

type Report = Decoding['venues'][string]
type Kind = StorageUse['kinds'][number]
type Gap = AdminCoverage['gaps'][number]

/** The whole coverage and the sizes of rows cost a scan, so they are read seldom. */
const REFETCH_MS = 15_000
const DECODING_MS = 4_000

/** Coverage as a band, the counters of the decoder by venue, and the storage with the days that are left. */
export function IndexSection(): JSX.Element {
  return h('div', { class: 'stack' }, h(CoveragePanel, null), h(DecodingPanel, null), h(StoragePanel, null))
}

function CoveragePanel(): JSX.Element {
  const { answer, problem, refetch } = useAnswer<AdminCoverage>(callOf('/v1/admin/coverage'), REFETCH_MS)
  const body = answer?.body
  const ofGap = valueColumns<Gap>(answer, 'gaps[]')
  const bands: Band[] = [
    ...(body?.ranges ?? []).map((range) => ({
      from: range.from_slot,
      to: range.to_slot,
      kind: 'live' as const,
      text: `decoder ${range.decoder_version ?? 'unknown'}`
    })),
    ...(body?.gaps ?? []).map((gap) => ({
      from: gap.from_slot,
      to: gap.to_slot,
      kind: 'missing' as const,
      text: `${gap.reason}: ${gap.detail}`
    }))
  ].toSorted((a, b) => a.from - b.from)
  return h(
    Panel,
    {
      title: 'Coverage',
      id: 'coverage-title',
      problem,
      isLoading: answer === null,
      onRetry: refetch,
      tools:
        body?.rows_from == null ? null : h('span', { class: 'note' }, `all rows from ${body.rows_from.ts} on`)
    },
    h(CoverageBand, { bands }),
    h(Table<Gap>, {
      name: 'Gaps',
      columns: [
        ofGap('From slot', 'from_slot', { isStop: true }),
        ofGap('To slot', 'to_slot'),
        { name: 'Reason', cell: ({ reason, detail }) => `${reason}: ${detail}` },
        { name: 'Recorded', isWide: true, cell: ({ given_up_at: time }) => time }
      ],
      rows: body?.gaps ?? [],
      keyOf: ({ from_slot: slot }) => slot,
      empty: 'No gap.'
    })
  )
}

const sumOf = (counts: Readonly<Record<string, number>>): number =>
  Object.values(counts).reduce((sum, each) => sum + each, 0)
const namesOf = (counts: Readonly<Record<string, number>>): string =>
  Object.entries(counts)
    .map(([name, number]) => `${name} ${number}`)
    .join(', ')

interface VenueRow {
  readonly venue: string
  readonly report: Report
}

function DecodingPanel(): JSX.Element {
  const { answer, problem, refetch } = useAnswer<Decoding>(callOf('/v1/admin/decoding'), DECODING_MS)
  const rows: readonly VenueRow[] = Object.entries(answer?.body.venues ?? {}).map(([venue, report]) => ({
    venue,
    report
  }))
  const from = answer === null ? null : originsOf(answer)
  const cell = (field: keyof Report, sum: (report: Report) => number, names?: (report: Report) => string) =>
    function Counter({ venue, report }: VenueRow): JSX.Element {
      const number = sum(report)
      return h(
        Value,
        {
          from: from!(`venues.${venue}.${field}`, report[field]),
          class: number > 0 && names !== undefined ? 'down' : '',
          isStop: false
        },
        h('span', { title: names?.(report) ?? '' }, count(number))
      )
    }
  return h(
    Panel,
    {
      title: 'Decoder, since the start of the service',
      id: 'decoder-title',
      problem,
      isLoading: answer === null,
      onRetry: refetch
    },
    h(Table<VenueRow>, {
      name: 'Counters of the decoder by venue',
      columns: [
        { name: 'Venue', cell: ({ venue }) => venue },
        { name: 'Events', isNumber: true, cell: cell('events', ({ events }) => sumOf(events)) },
        {
          name: 'Held back',
          isNumber: true,
          cell: cell(
            'missing',
            ({ missing_total: total }) => total,
            ({ missing }) => namesOf(missing)
          )
        },
        {
          name: 'Disagree',
          isNumber: true,
          isWide: true,
          cell: cell(
            'disagreements',
            ({ disagreements }) => disagreements,
            () => ''
          )
        },
        {
          name: 'Drift',
          isNumber: true,
          cell: cell(
            'drift',
            ({ drift }) => sumOf(drift),
            ({ drift }) => namesOf(drift)
          )
        },
        {
          name: 'Unknown calls',
          isNumber: true,
          cell: cell(
            'unknown_instructions',
            ({ unknown_instructions: calls }) => sumOf(calls),
            ({ unknown_instructions: calls }) => namesOf(calls)
          )
        },
        {
          name: 'Unknown events',
          isNumber: true,
          isWide: true,
          cell: cell(
            'unknown_events',
            ({ unknown_events: events }) => sumOf(events),
            ({ unknown_events: events }) => namesOf(events)
          )
        }
      ],
      rows,
      keyOf: ({ venue }) => venue,
      empty: 'No venue is decoded.'
    })
  )
}

function StoragePanel(): JSX.Element {
  const { answer, problem, refetch } = useAnswer<StorageUse>(callOf('/v1/admin/storage'), REFETCH_MS)
  if (answer === null)
    return h(Panel, { title: 'Storage', id: 'storage-title', problem, isLoading: true, onRetry: refetch })
  const { body } = answer
  const from = originsOf(answer)
  const ofKind = valueColumns<Kind>(answer, 'kinds[]')
  return h(
    Panel,
    { title: 'Storage', id: 'storage-title', problem },
    h(Facts, {
      rows: [
        ['Used', h(Value, { from: from('bytes', body.bytes) }, bytes(body.bytes))],
        ['Free', h(Value, { from: from('free_bytes', body.free_bytes) }, bytes(body.free_bytes))],
        [
          'Growth a day',
          h(
            Value,
            { from: from('growth_bytes_per_day', body.growth_bytes_per_day) },
            bytes(body.growth_bytes_per_day)
          )
        ],
        [
          'Days left',
          h(
            Value,
            { from: from('days_left', body.days_left) },
            body.days_left === null
              ? 'the disk does not fill, or the growth is not known yet'
              : decimal(body.days_left)
          )
        ]
      ]
    }),
    h(Table<Kind>, {
      name: 'Kinds of rows, the largest first',
      columns: [
        { name: 'Rows', cell: ({ kind }) => kind },
        ofKind('Size', 'bytes', { text: bytes, isStop: true }),
        {
          name: ' ',
          isWide: true,
          cell: (kind) =>
            h(Bar, {
              pct: (kind.bytes / Math.max(1, body.bytes)) * 100,
              name: share((kind.bytes / Math.max(1, body.bytes)) * 100)
            })
        },
        { name: 'Stays', cell: ({ stays }) => stays },
        ofKind('for', 'kept_seconds', {
          text: (seconds) => (seconds === null ? '' : `${decimal(seconds / 86_400)} days`)
        }),
        ofKind('Growth a day', 'growth_bytes_per_day', { text: bytes, isWide: true })
      ],
      rows: body.kinds,
      keyOf: ({ kind }) => kind,
      empty: 'The store is empty.'
    })
  )
}
