import { z } from 'zod'
import { CLOCKS, count } from '../../kernel/http/schema.ts'
import { keyAnswer } from './api-key.ts'

const { tenant, prefix, name, scopes, expires_at, allowed_ips, cors_origins } = keyAnswer.shape

/** The calling key, its limits and its use. */
export const ME = z.object({
  tenant,
  key_id: keyAnswer.shape.id,
  prefix,
  name,
  scopes,
  limits: z.object({
    rate_limit_per_minute: count('Calls allowed in a window'),
    work_limit_per_minute: count('Units of work allowed in a window'),
    export_rows_per_day: count('Rows that exports may send in a day of UTC; 0: no exports'),
    window_seconds: count('Length of a window in seconds; windows are clock minutes')
  }),
  usage: z.object({
    calls: count('Calls counted in this window, this one included'),
    remaining: count('Calls left in it'),
    work_remaining: count('Units of work left to the key, and to its tenant, before this call'),
    export_rows_remaining: count('Rows of exports left in this day of UTC'),
    resets_at: count(`Start of the next window; ${CLOCKS.service}, Unix seconds`)
  }),
  expires_at,
  allowed_ips,
  cors_origins
})
