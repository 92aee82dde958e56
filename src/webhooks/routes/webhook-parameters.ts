import { z } from 'zod'

/**
 * Path of a webhook. Every whole number is accepted. A number that is not an id is answered like an unknown id with
 * `webhook_not_found`; other text is refused with `invalid_parameter`.
 */
export const webhookParams = z.object({
  id: z
    .string()
    .regex(/^(?:0|-?[1-9]\d*)$/, 'must be a whole number')
    .transform(Number)
    .meta({ type: 'integer' })
    .describe('The id of a webhook, a whole number from 1 to 2^48 - 1')
})
