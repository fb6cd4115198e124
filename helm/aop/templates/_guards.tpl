{{/* Values that contradict each other, refused with what to write. */}}
{{- define "aop.guards" -}}
{{- $v := .Values -}}
{{- $s := $v.settings -}}
{{- if not (or $v.redis.bundled.enabled $v.redis.existingSecret.name $v.redis.url) -}}
{{- fail "redis: name a secret with the URL in redis.existingSecret.name, or set redis.url (for a trial: redis.bundled.enabled)" -}}
{{- end -}}
{{- if and $v.redis.existingSecret.name $v.redis.url -}}
{{- fail "redis: redis.existingSecret.name and redis.url both name a Redis: leave one empty" -}}
{{- end -}}
{{- if and $v.redis.bundled.enabled (or $v.redis.existingSecret.name $v.redis.url) -}}
{{- fail "redis: redis.bundled.enabled runs a Valkey of the chart's own: leave redis.existingSecret.name and redis.url empty" -}}
{{- end -}}
{{- if contains "@" $v.redis.url -}}
{{- fail "redis: redis.url holds credentials, which would stand in the open: put the URL into a secret and name it in redis.existingSecret.name" -}}
{{- end -}}
{{- if regexMatch "^(rediss?[+])?cluster:" $v.redis.url -}}
{{- fail "redis: Redis Cluster is not supported (Celery does not know it): use one Redis, or a Sentinel" -}}
{{- end -}}
{{- if and $v.redis.url (not (regexMatch "^(rediss?|sentinel)://" $v.redis.url)) -}}
{{- fail "redis: redis.url must begin with redis://, rediss:// or sentinel://" -}}
{{- end -}}
{{- if not (or $v.store.bundled.enabled $v.store.bucket) -}}
{{- fail "store: set store.bucket (for a trial: store.bundled.enabled)" -}}
{{- end -}}
{{- if and $v.store.bundled.enabled (not $v.store.existingSecret.name) -}}
{{- fail "store: store.bundled.enabled needs the keys of its server in store.existingSecret.name" -}}
{{- end -}}
{{- if and $v.store.kmsKey (ne $v.store.encryption "aws:kms") -}}
{{- fail "store: store.kmsKey goes with store.encryption=aws:kms" -}}
{{- end -}}
{{- if and $v.catalog.existingConfigMap $v.catalog.files -}}
{{- fail "catalog: catalog.existingConfigMap and catalog.files both give a catalog: leave one empty" -}}
{{- end -}}
{{- if lt ($s.longestWaitMs | int64) ($s.quietMs | int64) -}}
{{- fail "settings: longestWaitMs may not be shorter than quietMs" -}}
{{- end -}}
{{- if le ($s.timeLimitSeconds | int64) ($s.softTimeLimitSeconds | int64) -}}
{{- fail "settings: timeLimitSeconds must be longer than softTimeLimitSeconds" -}}
{{- end -}}
{{- if lt ($s.visibilityTimeoutSeconds | int64) (add ($s.timeLimitSeconds | int64) 60) -}}
{{- fail "settings: visibilityTimeoutSeconds must be at least 60 s longer than timeLimitSeconds, else a task that still runs is handed out again" -}}
{{- end -}}
{{- if le ($v.workerDefaults.terminationGraceSeconds | int64) ($s.softShutdownSeconds | int64) -}}
{{- fail "workerDefaults: terminationGraceSeconds must be longer than settings.softShutdownSeconds, else workers are killed in the middle of a task" -}}
{{- end -}}
{{- $scale := $v.workerDefaults.autoscaling -}}
{{- if and (eq $scale.kind "keda") (not (or $scale.prometheusAddress $scale.redisAddress)) -}}
{{- fail "workerDefaults.autoscaling: keda needs prometheusAddress, or redisAddress" -}}
{{- end -}}
{{- range $name, $worker := $v.workers -}}
{{- if ne ($worker.enabled | toString) "false" -}}
{{- $least := ternary $worker.minReplicas (ternary $scale.bulkMinReplicas $scale.minReplicas (eq $worker.class "bulk")) (hasKey $worker "minReplicas") | int -}}
{{- $most := $worker.maxReplicas | default $scale.maxReplicas | int -}}
{{- if and (ne $scale.kind "none") (gt $least $most) -}}
{{- fail (printf "workers.%s: minReplicas is greater than maxReplicas" $name) -}}
{{- end -}}
{{- if and (eq $scale.kind "hpa") (eq $least 0) -}}
{{- fail (printf "workers.%s: a HorizontalPodAutoscaler cannot go down to 0: set minReplicas (workerDefaults.autoscaling.bulkMinReplicas) to 1, or use keda" $name) -}}
{{- end -}}
{{- if gt (len (printf "%s-worker-%s" (include "aop.fullname" $) $name)) 63 -}}
{{- fail (printf "workers.%s: the name is too long for an object's: shorten it, or set fullnameOverride" $name) -}}
{{- end -}}
{{- end -}}
{{- end -}}
{{- range $stage := list "parse" "resolve" "generate" "verify" -}}
{{- range $class := list "interactive" "bulk" -}}
{{- $served := false -}}
{{- range $worker := $v.workers -}}
{{- if and (ne ($worker.enabled | toString) "false") (eq $worker.stage $stage) (or (eq $worker.class $class) (eq $worker.class "both")) -}}
{{- $served = true -}}
{{- end -}}
{{- end -}}
{{- if not $served -}}
{{- fail (printf "workers: nobody takes messages of %s.%s: add a worker for it" $stage $class) -}}
{{- end -}}
{{- end -}}
{{- end -}}
{{- if and $v.server.autoscaling.enabled (gt ($v.server.autoscaling.minReplicas | int) ($v.server.autoscaling.maxReplicas | int)) -}}
{{- fail "server.autoscaling: minReplicas is greater than maxReplicas" -}}
{{- end -}}
{{- if and $v.server.ingress.enabled (not $v.server.ingress.host) -}}
{{- fail "server.ingress: set host" -}}
{{- end -}}
{{- if and $v.server.gateway.enabled (not $v.server.gateway.parentName) -}}
{{- fail "server.gateway: set parentName" -}}
{{- end -}}
{{- if and $v.jobs.drift.enabled (not $v.jobs.drift.existingConfigMap) -}}
{{- fail "jobs.drift: name the ConfigMap with mcp.json in existingConfigMap" -}}
{{- end -}}
{{- if and $v.monitoring.serviceMonitor (not $v.exporter.enabled) -}}
{{- fail "monitoring.serviceMonitor scrapes the exporter: set exporter.enabled" -}}
{{- end -}}
{{- if and $v.monitoring.rules (not $v.exporter.enabled) -}}
{{- fail "monitoring.rules need the exporter's figures: set exporter.enabled" -}}
{{- end -}}
{{- end -}}

{{/* A variable that stands twice: which one counts would be anybody's guess. */}}
{{- define "aop.guardExtraEnv" -}}
{{- range $extra := .extra }}
{{- range $lines := $.own }}
{{- range default "[]" $lines | fromYamlArray }}
{{- if eq .name $extra.name }}
{{- fail (printf "pod.extraEnv: %s is set by other values of this chart: take it out, and set those" .name) -}}
{{- end }}
{{- end }}
{{- end }}
{{- end }}
{{- end }}
