import { z } from 'zod'
import { count } from '../../kernel/http/schema.ts'
import { tenantAnswer } from './api-key.ts'

/** Schema of the use of a tenant. */
export const tenantUsageAnswer = z
  .object({
    name: tenantAnswer.shape.name,
    keys: tenantAnswer.shape.keys,
    work_limit_per_minute: count(
      'Units of work a minute above which its keys are refused: the largest limit of its active keys, and at least the default of the service'
    ),
    work_units_this_minute: count(
      'Units of work of this clock minute, the debt of earlier minutes included; at most its limit'
    ),
    work_units: count('Units of work charged to its keys since this process started'),
    work_refused: count(
      'Calls, elements and channels refused since this process started because the work was used up'
    ),
    answer_ms: count(
      'Milliseconds spent on its answers since this process started, waits for the store included'
    ),
    answers_waiting: count('Answers that wait for a turn of the tenant now'),
    sockets: count('Open WebSockets of its keys, on the stream and the RPC URL')
  })
  .meta({ id: 'TenantUsage', description: 'The use of a tenant, as this process has counted it' })
