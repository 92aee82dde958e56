import { z } from 'zod'
import { moment, momentText } from '../access/bodies/api-key.ts'
import { count, text } from '../kernel/http/schema.ts'
import type { Cordon } from './cordons.ts'
import type { NodeStatus } from './node-control.ts'

const rate = (meaning: string) => z.number().describe(meaning)
const milliseconds = (meaning: string) => z.number().min(0).describe(`${meaning}, in milliseconds`)

const STATES = ['healthy', 'lagging', 'probing', 'down', 'refused', 'absent'] as const

export const nodeAnswer = z
  .object({
    id: text('Host and port of the node; with a digest of its URL if two nodes share them'),
    is_archive: z.boolean().describe('Whether it is of `MILLRACE_ARCHIVE_RPC_URL`').nullable(),
    state: z
      .enum(STATES)
      .describe(
        'By its probes: `healthy`; `lagging`: far behind the others; `probing`; `down`; `refused`: it refuses our requests, or is of another cluster. `absent`: a cordoned node that this process does not have'
      ),
    is_usable: z.boolean().describe('Whether requests of clients may go to it now'),
    reason: text('Why the last probe failed; null if it succeeded').nullable(),
    cordoned_at: moment('When it was cordoned; null if it is not').nullable(),
    slot: count('Newest slot that it has proven at processed; null before the first').nullable(),
    slots_behind: count(
      'Slots behind the newest one of the usable nodes; null if either is unknown'
    ).nullable(),
    latency_ms: milliseconds(
      'Average latency of recent requests and probes; null before the first'
    ).nullable(),
    false_slots: count('Slots of its answers and probes that were not accepted, since the start'),
    in_flight: count('Requests in flight'),
    budget: z
      .object({
        limit: rate(
          "The operator's limit, in requests a second (`MILLRACE_RPC_NODE_RPS`); null if unlimited"
        ).nullable(),
        learned: rate(
          'The limit learned from HTTP 429, in requests a second; null while none is known'
        ).nullable(),
        left: rate('Requests that may be sent now; negative after a costly one; null if unlimited').nullable()
      })
      .describe('Limits of the requests to it'),
    requests: count('Requests of clients in the last five to ten minutes; an element of a batch is one'),
    errors: count('Requests without an answer, or with an error of the node itself'),
    error_share: z
      .number()
      .min(0)
      .max(1)
      .describe('`errors` ÷ `requests`; null while there are no requests')
      .nullable(),
    methods: z
      .array(
        z.object({
          method: text('JSON-RPC method'),
          requests: count('Requests in that time'),
          errors: count('Requests without an answer, or with an error of the node itself'),
          p50_ms: milliseconds(
            'Median latency; at most 19 % too high; null if no request was answered'
          ).nullable(),
          p99_ms: milliseconds('99th percentile of the latency; null if no request was answered').nullable()
        })
      )
      .describe('These requests by method, the most frequent first')
  })
  .meta({ id: 'RpcNode' })

export const changedNodeAnswer = nodeAnswer.extend({
  warnings: z
    .array(
      z.object({
        code: z.enum(['no_node_left']).describe('Consequence, as a code for programs'),
        message: text('Consequence and remedy')
      })
    )
    .describe('Consequences of the change')
})

/** Renders a node for its operators. */
export function nodeBody(status: NodeStatus): z.input<typeof nodeAnswer> {
  const { recent } = status
  const requests = recent.reduce((sum, each) => sum + each.requests, 0)
  const errors = recent.reduce((sum, each) => sum + each.errors, 0)
  return {
    id: status.id.id,
    is_archive: status.isArchive,
    state: status.state,
    is_usable: status.isUsable,
    reason: status.reason,
    cordoned_at: status.cordonedAtMs === null ? null : momentText(status.cordonedAtMs),
    slot: status.slot,
    slots_behind: status.slotsBehind,
    latency_ms: status.latencyMs === null ? null : Math.round(status.latencyMs * 10) / 10,
    false_slots: status.falseSlots,
    in_flight: status.inFlight,
    budget: status.budget,
    requests,
    errors,
    error_share: requests === 0 ? null : errors / requests,
    methods: recent.map(({ method, requests, errors, p50Ms, p99Ms }) => ({
      method,
      requests,
      errors,
      p50_ms: p50Ms,
      p99_ms: p99Ms
    }))
  }
}

/**
 * Renders a cordoned node that this process does not use: it was removed from the settings, or belongs to another
 * process.
 */
export const absentNodeBody = ({ id, cordonedAtMs }: Cordon): z.input<typeof nodeAnswer> => ({
  id,
  is_archive: null,
  state: 'absent',
  is_usable: false,
  reason: null,
  cordoned_at: momentText(cordonedAtMs),
  slot: null,
  slots_behind: null,
  latency_ms: null,
  false_slots: 0,
  in_flight: 0,
  budget: { limit: null, learned: null, left: null },
  requests: 0,
  errors: 0,
  error_share: null,
  methods: []
})
