/** A change of a submission, in the form published to its tenant. */
export const CHANGE = {
  event: 'sent',
  signature: 'a',
  route: 'node',
  bundle_id: null,
  commitment: null,
  slot: null,
  err: null,
  rebroadcasts: 0,
  landed_ms: null,
  received_at_ms: 0,
  ts_ms: 0
} as const
