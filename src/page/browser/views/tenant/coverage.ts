import { h, type JSX } from 'preact'
import { callOf } from '../../api.ts'
import type { Coverage, CoveredRange } from '../../answers.ts'
import { CoverageBand } from '../../coverage-band.ts'
import { Panel, Table } from '../../elements.ts'
import { useAnswer } from '../../use-answer.ts'
import { valueColumns } from '../../value-column.ts'

const REFETCH_MS = 15_000

/** The slots that the index has: live, archived, partial or missing, with the reason. */
export function CoverageSection(): JSX.Element {
  const { answer, problem, refetch } = useAnswer<Coverage>(callOf('/v1/coverage'), REFETCH_MS)
  const ranges = (answer?.body.data ?? []).toSorted((a, b) => a.from_slot - b.from_slot)
  const ofRange = valueColumns<CoveredRange>(answer)
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
        ofRange('From slot', 'from_slot', { isStop: true }),
        ofRange('To slot', 'to_slot'),
        { name: 'From', isWide: true, cell: ({ from: time }) => time ?? '–' },
        { name: 'To', isWide: true, cell: ({ to }) => to ?? '–' },
        ofRange('Decoder', 'decoder_version', { isWide: true }),
        { name: 'Reason', cell: ({ reason }) => reason ?? '' }
      ],
      rows: ranges.toReversed(),
      keyOf: ({ from_slot: slot, state }) => `${state} ${String(slot)}`,
      empty: 'Nothing is indexed yet.'
    })
  )
}
