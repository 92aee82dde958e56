import { VENUE_IDS } from '../../chain/venue-id.ts'
import { placeText, REFUSAL_REASONS, SHOWN_PER_REASON } from './row-refusal.ts'
import type { NumberRange, RowTally } from './row-tally.ts'

/** The result of a dry run, as `--json` prints it. */
export interface RowReport {
  readonly files: number
  /** Files that hold no trade rows. */
  readonly files_left_out: number
  /** Rows read; refused ones are included. */
  readonly rows: number
  readonly accepted: number
  /** Refused rows, and refused files or row groups. */
  readonly refused: number
  /** Accepted rows whose slot is not stated. */
  readonly without_slot: number
  readonly slots: NumberRange | null
  /** Block times of accepted rows, in ISO 8601. */
  readonly times: { readonly from: string; readonly to: string } | null
  readonly mints: number
  /** Mints for which rows state different decimals. Rows with others than those that count are held back. */
  readonly contradicted_mints: {
    readonly count: number
    /** The first ones by address. */
    readonly first: readonly { readonly mint: string; readonly decimals: readonly number[] }[]
  }
  /** Accepted rows by venue. */
  readonly venues: Readonly<Record<string, number>>
  /** Files by mapping. */
  readonly mappings: Readonly<Record<string, number>>
  readonly refusals: readonly ReasonReport[]
}

interface ReasonReport {
  readonly reason: string
  readonly count: number
  /** The first ones. */
  readonly first: readonly {
    readonly file: string
    /** Row of a Parquet file, or line; null for a whole file or row group. */
    readonly line: number | null
    readonly row_group: number | null
    readonly detail: string
  }[]
}

/** Summarizes a tally. `leftOut` counts the files that hold no trade rows. */
export function rowReport(tally: RowTally, leftOut: number): RowReport {
  const { refusals, times, contradictedMints } = tally
  return {
    files: tally.files,
    files_left_out: leftOut,
    rows: tally.rows,
    accepted: tally.accepted,
    refused: refusals.total,
    without_slot: tally.withoutSlot,
    slots: tally.slots,
    times: times && { from: isoText(times.from), to: isoText(times.to) },
    mints: tally.mints,
    contradicted_mints: {
      count: contradictedMints.length,
      first: contradictedMints.slice(0, SHOWN_PER_REASON)
    },
    venues: Object.fromEntries(
      VENUE_IDS.flatMap((venue) => {
        const count = tally.byVenue.get(venue) ?? 0
        return count === 0 ? [] : [[venue, count]]
      })
    ),
    mappings: Object.fromEntries(tally.byMapping),
    refusals: REFUSAL_REASONS.filter((reason) => refusals.count(reason) > 0).map((reason) => ({
      reason,
      count: refusals.count(reason),
      first: refusals
        .first(reason)
        .map(({ file, line, rowGroup, detail }) => ({ file, line, row_group: rowGroup, detail }))
    }))
  }
}

/** Formats a report for a terminal. */
export function reportLines(report: RowReport): readonly string[] {
  const { files, files_left_out: leftOut, rows, accepted, refused, slots, times } = report
  const lines = [
    `${rows} rows in ${files} files: ${accepted} would be accepted, ${refused} refusals`,
    ...Object.entries(report.mappings).map(([name, count]) => `${count} files have the columns of ${name}`)
  ]
  if (leftOut > 0) lines.push(`${leftOut} files without trade rows are left out`)
  if (slots !== null) lines.push(`slots ${slots.from} to ${slots.to}`)
  if (report.without_slot > 0) lines.push(`${report.without_slot} accepted rows state no slot`)
  if (times !== null) lines.push(`times ${times.from} to ${times.to}`)
  if (accepted > 0) lines.push(`${report.mints} mints`)
  for (const [venue, count] of Object.entries(report.venues)) lines.push(`${venue}: ${count} trades`)
  return [...lines, ...refusalLines(report.refusals), ...contradictionLines(report)]
}

/** Formats refusals for a terminal. */
export function refusalLines(refusals: readonly ReasonReport[]): string[] {
  return refusals.flatMap(({ reason, count, first }) => [
    `refused, ${reason}: ${count}`,
    ...first.map(
      ({ file, line, row_group, detail }) => `  ${placeText({ file, line, rowGroup: row_group })}: ${detail}`
    ),
    ...(count > SHOWN_PER_REASON ? [`  and ${count - SHOWN_PER_REASON} more`] : [])
  ])
}

/** Names mints for which rows state different decimals. */
export function contradictionLines({ contradicted_mints: { count, first } }: RowReport): string[] {
  if (count === 0) return []
  return [
    `rows state different decimals: ${count} mints`,
    ...first.map(({ mint, decimals }) => `  ${mint}: ${decimals.join(' and ')}`),
    ...(count > SHOWN_PER_REASON ? [`  and ${count - SHOWN_PER_REASON} more`] : [])
  ]
}

const isoText = (seconds: number): string => `${new Date(seconds * 1_000).toISOString().slice(0, 19)}Z`
