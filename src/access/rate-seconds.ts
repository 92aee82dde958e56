/** Length of a window of every quota, in seconds; windows are clock minutes. */
export const WINDOW_SECONDS = 60
