import { h, type JSX } from 'preact'
import { callOf } from '../../api.ts'
import type { Coverage, CoveredRange } from '../../answers.ts'
import { CoverageBand } from '../../coverage-band.ts'
import { Panel, Table } from '../../elements.ts'
import { originsOf, Value } from '../../explain.ts'
import { count } from '../../format.ts'
import { useAnswer } from '../../use-answer.ts'

const REFETCH_MS = 15_000

/** The slots that the index has: live, archived, partial or missing, with the reason. */
export function CoverageSection(): JSX.Element {
  const { answer, problem, refetch } = useAnswer<Coverage>(callOf('/v1/coverage'), REFETCH_MS)
  const ranges = (answer?.body.data ?? []).toSorted((a, b) => a.from_slot - b.from_slot)
  const from = answer === null ? null : originsOf(answer)
  return h(
    Panel,
    { title: 'Coverage', id: 'coverage-title', problem, isLoading: answer === null, onRetry: refetch },
    h(CoverageBand, {
      bands: ranges.map((range) => ({
        from: range.from_slot,
        to: range.to_slot,
        kind: range.state,
        text: `${range.from ?? ''} to ${range.to ?? ''} ${range.reason ?? ''}`
      }))
    }),
    h(Table<CoveredRange>, {
      name: 'Ranges of slots, newest first',
      columns: [
        { name: 'State', cell: ({ state }) => state },
        {
          name: 'From slot',
          isNumber: true,
          cell: (range) =>
            h(Value, { from: from!('data[].from_slot', range.from_slot) }, count(range.from_slot))
        },
        {
          name: 'To slot',
          isNumber: true,
          cell: (range) => h(Value, { from: from!('data[].to_slot', range.to_slot) }, count(range.to_slot))
        },
        { name: 'From', isWide: true, cell: ({ from: time }) => time ?? '–' },
        { name: 'To', isWide: true, cell: ({ to }) => to ?? '–' },
        {
          name: 'Decoder',
          isNumber: true,
          isWide: true,
          cell: ({ decoder_version: version }) => version ?? '–'
        },
        { name: 'Reason', cell: ({ reason }) => reason ?? '' }
      ],
      rows: ranges.toReversed(),
      keyOf: ({ from_slot: slot, state }) => `${state} ${String(slot)}`,
      empty: 'Nothing is indexed yet.'
    })
  )
}
