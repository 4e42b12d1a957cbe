from django.db import migrations, models

import chatapp.store.verbatim_field


class Migration(migrations.Migration):

    dependencies = [
        ('chatapp', '0024_suggested_answers'),
    ]

    operations = [
        migrations.AddField(
            model_name='installation',
            name='not_at_start',
            field=chatapp.store.verbatim_field.VerbatimField(blank=True, null=True),
        ),
        migrations.AddField(
            model_name='keyday',
            name='failed',
            field=models.PositiveBigIntegerField(db_default=0, default=0),
        ),
        migrations.AddField(
            model_name='keyday',
            name='thinking_ms',
            field=models.PositiveBigIntegerField(db_default=0, default=0),
        ),
        # Of what a column may say the database knows nothing.
        migrations.SeparateDatabaseAndState(
            state_operations=[
                migrations.AlterField(
                    model_name='look',
                    name='what',
                    field=models.CharField(choices=[('transcript', 'opened the transcript'), ('search', 'found it by its words'), ('reviews', 'took its review as data'), ('stopped', 'stopped its answer')], max_length=16),
                ),
            ],
        ),
    ]
