package machine

import (
	"context"
	"log/slog"
)

// LogTo are hooks that write each change to log: a trip as a warning, the rest
// as information, each with the breaker's name and the rule.
func LogTo(log *slog.Logger, breaker string) Hooks {
	return Hooks{
		OnTransition: func(t Transition) {
			level := slog.LevelInfo
			if t.To == Open || t.To == Fallback {
				level = slog.LevelWarn
			}
			log.LogAttrs(context.Background(), level, "circuit breaker "+t.To.String(), slog.String("breaker", breaker), slog.String("from", t.From.String()),
				slog.String("to", t.To.String()), slog.String("rule", string(t.Rule)), slog.Int("failures", t.Failures), slog.Duration("at", t.At), slog.Duration("effective", t.Effective))
		},
		OnSwitch: func(s Switch) {
			log.LogAttrs(context.Background(), slog.LevelInfo, "circuit breaker switched model", slog.String("breaker", breaker),
				slog.String("from", s.From), slog.String("to", s.To), slog.String("rule", string(s.Rule)), slog.Duration("at", s.At))
		},
	}
}
